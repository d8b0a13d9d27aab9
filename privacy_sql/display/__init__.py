"""Values as people and programs read them: JSON, rounded numbers, small tables for notebooks."""
