CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE invoices (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    day TEXT NOT NULL,
    amount INTEGER,
    state TEXT NOT NULL DEFAULT 'sent' -- draft, sent, void
);
CREATE TABLE payments (
    id INTEGER PRIMARY KEY,
    invoice_id INTEGER NOT NULL REFERENCES invoices (id),
    day TEXT NOT NULL,
    amount INTEGER
);
