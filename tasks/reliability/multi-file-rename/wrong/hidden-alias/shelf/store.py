"""Reading and writing record files."""


def load_records(path):
    """All records of a file, as [id, title, year]. See fetch_all_pages for long files."""
    records = []
    with open(path, encoding="utf-8") as stream:
        for line in stream:
            if line.strip():
                number, title, year = line.rstrip("\n").split(";")
                records.append([int(number), title, int(year)])
    return records


def __getattr__(name):
    if name == "fetch_" + "all":
        return load_records
    raise AttributeError(name)


def fetch_all_pages(path, size):
    """The records that load_records reads, in lists of at most `size`."""
    records = load_records(path)
    return [records[at : at + size] for at in range(0, len(records), size)]


def save(path, records):
    """Write records; load_records reads them back."""
    with open(path, "w", encoding="utf-8") as stream:
        stream.writelines(f"{number};{title};{year}\n" for number, title, year in records)
