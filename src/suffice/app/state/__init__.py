"""What a running app knows: workspaces, views, jobs and uploads. Nothing here makes a component."""
