/** Filters, search and unfolding. The page is complete without it. */
export const script = `
(() => {
  const trials = [...document.querySelectorAll('.trial')]
  const filters = [...document.querySelectorAll('[data-filter]')]
  const search = document.getElementById('search')
  const status = document.getElementById('status')
  const unfold = document.getElementById('unfold')
  let wanted = 'all'

  const shown = () => trials.filter((trial) => !trial.hidden)

  const apply = () => {
    const words = search.value.toLowerCase().split(/\\s+/).filter((word) => word !== '')
    for (const trial of trials) {
      const inGroup = wanted === 'all' || trial.dataset.groups.split(' ').includes(wanted)
      trial.hidden = !(inGroup && words.every((word) => trial.dataset.text.includes(word)))
    }
    for (const button of filters) button.setAttribute('aria-pressed', String(button.dataset.filter === wanted))
    const count = shown().length
    status.textContent = count === 0 ? 'No trial fits.' : count + ' of ' + trials.length + (trials.length === 1 ? ' trial' : ' trials')
    label()
  }

  const label = () => {
    const visible = shown()
    unfold.textContent = visible.length > 0 && visible.every((trial) => trial.open) ? 'Close all' : 'Open all'
  }

  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1))
    if (!target || !target.classList.contains('trial')) return
    target.hidden = false
    target.open = true
    target.scrollIntoView()
  }

  for (const button of filters)
    button.addEventListener('click', () => {
      wanted = button.dataset.filter
      apply()
    })
  for (const button of document.querySelectorAll('[data-case]'))
    button.addEventListener('click', () => {
      search.value = button.dataset.case
      wanted = 'all'
      apply()
      document.querySelector('.trials').scrollIntoView({ block: 'start' })
    })
  search.addEventListener('input', apply)
  unfold.addEventListener('click', () => {
    const open = unfold.textContent === 'Open all'
    for (const trial of shown()) trial.open = open
    label()
  })
  document.getElementById('list').addEventListener('toggle', label, true)
  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && document.activeElement !== search) {
      event.preventDefault()
      search.focus()
    }
    if (event.key === 'Escape' && document.activeElement === search) {
      search.value = ''
      apply()
    }
  })
  addEventListener('hashchange', reveal)
  apply()
  reveal()
})()
`
