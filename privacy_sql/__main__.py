"""`python -m privacy_sql` is the command `privacy-sql`."""

from privacy_sql.cli.main import command

if __name__ == "__main__":
    command()
