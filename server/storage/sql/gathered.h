#pragma once

// Marks a statement "INSERT INTO table (columns) VALUES (?1, ...)", with or without ON CONFLICT DO NOTHING, whose rows
// need not be stored one by one. The mark follows the word INSERT. A database that stores many rows at once much faster
// may treat the rows as inserted and detect a row that already exists only later in the transaction. It then repeats
// the transaction, in the end with single INSERTs.
#define TELEMETRY_GATHERED "/*gathered*/ "
