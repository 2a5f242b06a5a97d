"""The pages of the app: their layouts, and what happens when somebody clicks."""
