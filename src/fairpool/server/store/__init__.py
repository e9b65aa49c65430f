"""The database: what is kept of people, collaborations, rounds and jobs."""
