"""What a running app holds: views, workspaces, jobs and uploads. No component of a page is made here."""
