SELECT customers.name AS customer, sum(invoices.amount) AS charged
FROM customers JOIN invoices ON invoices.customer_id = customers.id
GROUP BY customers.name
ORDER BY customers.name;
