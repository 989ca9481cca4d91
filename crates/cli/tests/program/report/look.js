(() => {
  const width = document.documentElement.clientWidth;
  const complaints = [];
  const say = (what, of) => complaints.push(`${what}: ${(of.textContent || of.className || of.tagName).slice(0, 60)}`);
  const apart = (a, b) => a.right <= b.left + 0.5 || b.right <= a.left + 0.5 || a.bottom <= b.top + 1.5 || b.bottom <= a.top + 1.5;
  if (document.documentElement.scrollWidth > width) complaints.push(`the page scrolls sideways: ${document.documentElement.scrollWidth} of ${width}`);
  const figures = [...document.querySelectorAll('figure')];
  for (const figure of figures) {
    const scrolls = figure.classList.contains('large') || figure.classList.contains('map');
    const svg = figure.querySelector(':scope > svg, :scope > .scroll > svg'), box = svg.getBoundingClientRect();
    if (box.width < 200 || box.height < 40) say('a chart is too small', figure);
    if (!scrolls && (box.left < 0 || box.right > width)) say('a chart leaves the page', figure);
    if (svg.getAttribute('role') !== 'img' || !svg.getAttribute('aria-label')) say('a chart has no name', figure);
    if (!figure.classList.contains('large') && !figure.querySelector('details table caption')) say('a chart has no table', figure);
    if (![...svg.querySelectorAll('path,circle,rect')].some(mark => { const b = mark.getBoundingClientRect(); return b.width + b.height > 3; })) say('a chart is empty', figure);
    const texts = [...svg.querySelectorAll('text')].map(text => [text, text.getBoundingClientRect()]);
    for (const [text, at] of texts) {
      if (at.left < box.left - 0.5 || at.right > box.right + 0.5 || at.bottom > box.bottom + 0.5 || at.top < box.top - 0.5) say('a label is clipped', text);
      if (parseFloat(getComputedStyle(text).fontSize) * box.width / svg.viewBox.baseVal.width < 9) say('a label is too small', text);
    }
    texts.forEach(([text, at], index) => texts.slice(index + 1).forEach(([other, there]) => {
      if (!apart(at, there)) say(`labels overlap (${text.textContent})`, other);
    }));
  }
  for (const part of document.querySelectorAll('h1,h2,h3,h4,p,dt,dd,li,pre,summary,th,td')) {
    const at = part.getBoundingClientRect();
    if (at.width > 0 && (at.left < -1 || at.right > width + 1) && !part.closest('.scroll') && !part.classList.contains('skip')) say('text leaves the page', part);
  }
  const ids = [...document.querySelectorAll('[id]')].map(of => of.id);
  if (new Set(ids).size < ids.length) complaints.push('an id occurs twice');
  const levels = [...document.querySelectorAll('h1,h2,h3,h4')].map(heading => +heading.tagName[1]);
  if (levels.some((level, index) => level > (levels[index - 1] || 0) + 1)) complaints.push(`heading levels are skipped: ${levels}`);
  for (const head of document.querySelectorAll('th')) if (!head.textContent.trim()) say('a table heading is empty', head.closest('table'));
  const title = document.querySelector('h1');
  if (width === 400 && title.getBoundingClientRect().bottom > 300) say('the answer ends below 300 px', title);
  const luminance = colour => {
    const [r, g, b] = colour.match(/[\d.]+/g).map(Number).map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const paper = figures.length ? getComputedStyle(figures[0]).backgroundColor : null;
  if (paper) for (const mark of document.querySelectorAll('figure path.l, figure .o')) {
    const style = getComputedStyle(mark), colour = mark.classList.contains('l') ? style.stroke : style.fill;
    if (contrast(colour, paper) < 3) { say(`a series has too little contrast (${colour})`, mark); break; }
  }
  for (const text of document.querySelectorAll('h1,h2,h3,h4,p,dt,dd,th,td,summary,.badge')) {
    let behind = text; while (behind && getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)') behind = behind.parentElement;
    if (behind && contrast(getComputedStyle(text).color, getComputedStyle(behind).backgroundColor) < 4.5) { say('text has too little contrast', text); break; }
  }
  return { complaints, figures: figures.length, titles: figures.map(figure => (figure.querySelector('h3,h4') || figure).textContent), dark: luminance(getComputedStyle(document.body).backgroundColor) < 0.2, lang: document.documentElement.lang };
})()
