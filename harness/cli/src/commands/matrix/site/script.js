(() => {
  // Tables are sorted by the values of a column, names by the alphabet.
  const value = (row, at) => {
    const cell = row.cells[at];
    return cell.dataset.value === undefined ? cell.textContent.trim().toLowerCase() : Number(cell.dataset.value);
  };
  for (const heading of document.querySelectorAll('table.matrix thead th')) {
    const table = heading.closest('table');
    const at = heading.cellIndex;
    const sort = document.createElement('button');
    sort.type = 'button';
    sort.title = 'Sort by this column';
    const inside = heading.querySelector('a');
    if (inside) {
      sort.textContent = '↕';
      sort.setAttribute('aria-label', `Sort by ${inside.textContent}`);
      heading.append(' ', sort);
    } else {
      sort.append(...heading.childNodes);
      heading.append(sort);
    }
    sort.addEventListener('click', () => {
      const isDown = heading.getAttribute('aria-sort') === 'descending';
      const isText = typeof value(table.tBodies[0].rows[0], at) === 'string';
      const before = heading.getAttribute('aria-sort');
      const isAscending = before ? isDown : isText;
      for (const other of table.tHead.querySelectorAll('[aria-sort]')) other.removeAttribute('aria-sort');
      heading.setAttribute('aria-sort', isAscending ? 'ascending' : 'descending');
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => {
        const [x, y] = [value(a, at), value(b, at)];
        return (x < y ? -1 : x > y ? 1 : 0) * (isAscending ? 1 : -1);
      });
      table.tBodies[0].append(...rows);
    });
  }

  // The details that an address names are open.
  const open = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === 'DETAILS') { target.open = true; target.scrollIntoView(); }
  };
  addEventListener('hashchange', open);
  open();

  // The search: all words have to be in the name.
  const search = document.getElementById('search');
  addEventListener('keydown', (event) => {
    if (event.key === '/' && event.target !== search) { search.focus(); event.preventDefault(); }
    if (event.key === 'Escape' && event.target === search) { search.value = ''; search.dispatchEvent(new Event('input')); search.blur(); }
  });
  const data = document.getElementById('index');
  if (!data) return;
  const index = JSON.parse(data.textContent);
  const found = document.getElementById('found');
  const MOST = 60;
  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    found.hidden = words.length === 0;
    document.getElementById('overall').hidden = words.length > 0;
    if (!words.length) return;
    const hits = index.filter(([kind, name]) => words.every((word) => name.toLowerCase().includes(word) || kind === word));
    const heading = document.createElement('h2');
    heading.textContent = `${hits.length} found`;
    const list = document.createElement('ul');
    for (const [kind, name, to] of hits.slice(0, MOST)) {
      const item = document.createElement('li');
      const label = document.createElement('span');
      label.textContent = kind;
      const link = document.createElement('a');
      link.href = to;
      link.textContent = name;
      item.append(label, ' ', link);
      list.append(item);
    }
    found.replaceChildren(heading, list);
  };
  search.addEventListener('input', show);
  search.form.addEventListener('submit', (event) => event.preventDefault());
  search.value = new URLSearchParams(location.search).get('q') || '';
  show();
})();
