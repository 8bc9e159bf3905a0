"""Values that the demo, the app and the UI share; all are frozen, and nothing here acts."""
