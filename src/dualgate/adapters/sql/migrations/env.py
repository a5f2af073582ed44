"""How Alembic runs our revisions: on the connection it is given, inside the caller's unit."""

from __future__ import annotations

from alembic import context

from dualgate.adapters.sql.tables import metadata


def run() -> None:
    """Run the revisions that are asked for."""
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=metadata,
        transactional_ddl=False,  # the caller has opened the transaction and ends it
        render_as_batch=True,
    )
    context.run_migrations()


# The name under which Alembic loads this file; importing it otherwise must do nothing.
if __name__ == "env_py":
    run()
