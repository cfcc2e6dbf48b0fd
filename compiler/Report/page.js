// Sorting by columns, filters, and which counts stand beside a source. The page is whole without.
'use strict';

function keyOf(row, column) {
  const cell = row.cells[column];
  const text = cell.dataset.v === undefined ? cell.textContent : cell.dataset.v;
  const number = Number(text);
  return text !== '' && Number.isFinite(number) ? number : text;
}

function compare(a, b) {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a).localeCompare(String(b), 'en', {numeric: true});
}

function sortBy(table, heads, column) {
  const wasAscending = heads[column].getAttribute('aria-sort') === 'ascending';
  const isFirst = !heads[column].hasAttribute('aria-sort');
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  // Numbers begin with the largest, texts with the first.
  const ascending = isFirst ? heads[column].classList.contains('text') : !wasAscending;
  rows.sort((a, b) => compare(keyOf(a, column), keyOf(b, column)) * (ascending ? 1 : -1));
  heads.forEach((head) => head.removeAttribute('aria-sort'));
  heads[column].setAttribute('aria-sort', ascending ? 'ascending' : 'descending');
  body.append(...rows);
}

for (const table of document.querySelectorAll('table.sorts')) {
  const heads = Array.from(table.tHead.rows[0].cells);
  table.classList.add('can-sort');
  heads.forEach((head, column) => {
    head.tabIndex = 0;
    head.addEventListener('click', () => sortBy(table, heads, column));
    head.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') sortBy(table, heads, column);
    });
  });
}

function addSelect(place, name, options, onChange) {
  const label = document.createElement('label');
  const select = document.createElement('select');
  for (const [value, text] of options) select.add(new Option(text, value));
  select.addEventListener('change', () => onChange(select.value));
  label.append(name + ' ', select);
  place.append(label);
}

// The table of binaries: by kernel and by target.
const binaries = document.getElementById('binaries');
if (binaries !== null) {
  const rows = Array.from(binaries.tBodies[0].rows);
  const chosen = {};
  const place = document.querySelector('.filters[data-for=binaries]');
  for (const [name, column] of [['kernel', 0], ['target', 2]]) {
    const values = Array.from(new Set(rows.map((row) => row.cells[column].textContent)));
    addSelect(place, name, [['', 'all'], ...values.map((value) => [value, value])], (value) => {
      chosen[column] = value;
      for (const row of rows)
        row.hidden = Object.entries(chosen).some(([at, wanted]) =>
          wanted !== '' ? row.cells[at].textContent !== wanted : false);
    });
  }
}

// Sources with several launches: one count of all, or all counts of one.
const several = Array.from(document.querySelectorAll('table.several'));
if (several.length !== 0) {
  const place = document.querySelector('.filters[data-for=source]');
  const launches = new Map(), counts = new Map();
  for (const table of several) {
    for (const head of table.tHead.rows[0].querySelectorAll('.launch'))
      launches.set(head.className.match(/\br\d+/)[0], head.textContent);
    for (const head of table.tHead.rows[1].querySelectorAll('[class^=r]'))
      counts.set(head.className.match(/\bm\d+/)[0], head.textContent);
  }
  const rule = document.head.appendChild(document.createElement('style'));
  const options = [];
  for (const [id, name] of counts) options.push(['.' + id, 'all launches: ' + name]);
  for (const [id, name] of launches) options.push(['.' + id, name + ' #' + id.slice(1) + ': all counts']);
  addSelect(place, 'show', options, (wanted) => {
    const isLaunch = wanted.startsWith('.r');
    const hint = isLaunch ? '.source.several tr.hint:not(' + wanted + ') { display: none; } ' : '';
    const other = isLaunch ? '.source.several th.launch:not(' + wanted + ') { display: none; } ' : '';
    for (const table of several) {
      table.classList.toggle('one', isLaunch);
      for (const head of table.querySelectorAll('th.launch'))
        head.colSpan = isLaunch ? counts.size : 1;
    }
    rule.textContent = hint + other + '.several td[class^=r]:not(' + wanted + '), .several thead tr + tr th[class^=r]:not(' + wanted +
      ') { display: none; } .several td[class^=r]' + wanted + ', .several thead tr + tr th[class^=r]' + wanted +
      ' { display: table-cell; }';
  });
}
