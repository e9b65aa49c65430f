"""The service's front: an API and pages, thin over `consortia` and `people`."""
