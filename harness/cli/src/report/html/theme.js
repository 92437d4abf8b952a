'use strict';
// The theme of the system, until somebody switches to the other one.
(() => {
  const root = document.documentElement;
  try { root.dataset.theme = localStorage.getItem('rolecall-theme') || ''; } catch { /* a file may have no storage */ }
  const button = document.getElementById('theme');
  button.hidden = false;
  button.addEventListener('click', () => {
    const now = root.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
    root.dataset.theme = now === 'dark' ? 'light' : 'dark';
    try { localStorage.setItem('rolecall-theme', root.dataset.theme); } catch { /* likewise */ }
  });
})();
