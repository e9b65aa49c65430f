"""What several test files share: example data, naive oracles, projects on disk, a cluster, a
browser.
"""
