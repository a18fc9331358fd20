#pragma once

// Behind the INSERT of a statement "INSERT INTO table (columns) VALUES (?1, ...)", with or without ON CONFLICT DO
// NOTHING: its rows need not be stored one by one. A database that stores many at once much faster may take them for
// inserted, and find out before the commit; then the transaction is done again, with one INSERT after the other.
#define TELEMETRY_GATHERED "/*gathered*/ "
