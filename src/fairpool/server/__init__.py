"""The central party as a service: where parties agree, submit, see and fetch.

It calls `fairpool.consortium` as the command line does; no rule of the chain lives here. What is
kept lies in two places: people, terms, submissions, jobs and what happened in the database
(`store`), and a folder for each collaboration, as the command line has it (`work.project`).
"""
