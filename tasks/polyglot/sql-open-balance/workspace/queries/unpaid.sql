SELECT invoices.id AS invoice, invoices.day AS day
FROM invoices
WHERE invoices.state = 'sent' AND NOT EXISTS (SELECT 1 FROM payments WHERE payments.invoice_id = invoices.id)
ORDER BY invoices.day, invoices.id;
