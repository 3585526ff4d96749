/// The database tables for vaults, and the roles that may use them.
///
/// `head` has one row per vault, with its current generation and the end of its log. Each row of `extent` contains
/// sealed bytes that start at the offset `first_byte`, and is never updated. A compaction writes a new `generation`.
enum Schema {
    /// The maximum extent size in bytes. Larger extents are slower in PostgreSQL, and CockroachDB advises against them.
    static let extentSize = 256 << 10
    /// How long a replaced generation is kept for processes that are still reading it.
    static let generationLifetime = "1 hour"

    static let creation = [
        "CREATE SCHEMA IF NOT EXISTS vault",
        """
        CREATE TABLE IF NOT EXISTS vault.head (
            name bytea PRIMARY KEY, generation int8 NOT NULL, sequence int8 NOT NULL, authenticator bytea NOT NULL,
            size int8 NOT NULL, base int8 NOT NULL, hint_offset int8, hint_sequence int8)
        """,
        """
        CREATE TABLE IF NOT EXISTS vault.generation (
            generation int8 PRIMARY KEY, name bytea NOT NULL, begun timestamptz NOT NULL DEFAULT now(),
            replaced timestamptz)
        """,
        """
        CREATE TABLE IF NOT EXISTS vault.extent (
            generation int8 NOT NULL, first_byte int8 NOT NULL, bytes bytea NOT NULL, PRIMARY KEY (generation, first_byte))
        """,
    ]

    /// Disables compression, because sealed bytes do not compress. CockroachDB has no such setting.
    static let storage = "ALTER TABLE vault.extent ALTER COLUMN bytes SET STORAGE EXTERNAL"

    /// Creates the roles and grants them only the rights that they need.
    static let roles = [
        """
        DO $$ BEGIN
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'vault_reader') THEN CREATE ROLE vault_reader; END IF;
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'vault_writer') THEN CREATE ROLE vault_writer; END IF;
        END $$
        """,
        "GRANT USAGE ON SCHEMA vault TO vault_reader, vault_writer",
        "GRANT SELECT ON vault.head, vault.generation, vault.extent TO vault_reader, vault_writer",
        "GRANT INSERT, UPDATE ON vault.head, vault.generation TO vault_writer",
        "GRANT INSERT, DELETE ON vault.extent TO vault_writer", "GRANT DELETE ON vault.generation TO vault_writer",
    ]
}
