"""A training cluster on Ray: a worker, engines and sandboxes in placement groups, supervised."""
