"""governance_pipeline: the domain library of the auditor. It never imports dagster."""
