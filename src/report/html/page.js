;(() => {
  const trials = [...document.querySelectorAll('.trial')]
  const filters = [...document.querySelectorAll('[data-filter]')]
  const search = document.getElementById('search')
  const status = document.getElementById('status')
  const unfold = document.getElementById('unfold')
  const list = document.getElementById('list')
  const agent = document.getElementById('agent')
  const tag = document.getElementById('tag')
  const order = document.getElementById('order')
  let wanted = 'all'
  let onlyCase = null

  const shown = () => trials.filter((trial) => !trial.hidden)

  const apply = () => {
    const words = search.value
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '')
    for (const trial of trials) {
      const inGroup = wanted === 'all' || trial.dataset.groups.split(' ').includes(wanted)
      const ofAgent = agent.value === '' || trial.dataset.agent === agent.value
      const tagged = tag.value === '' || JSON.parse(trial.dataset.tags).includes(tag.value)
      const searched =
        onlyCase === null
          ? words.every((word) => trial.dataset.text.includes(word))
          : trial.dataset.caseName === onlyCase
      trial.hidden = !(inGroup && ofAgent && tagged && searched)
    }
    for (const button of filters)
      button.setAttribute('aria-pressed', String(button.dataset.filter === wanted))
    const count = shown().length
    status.textContent =
      count === 0
        ? 'No trial matches.'
        : `${count} of ${trials.length}${trials.length === 1 ? ' trial' : ' trials'}`
    label()
  }

  const unpack = async (trial) => {
    const packed = trial.querySelector('template.packed')
    if (packed === null) return
    packed.remove()
    const bytes = Uint8Array.from(atob(packed.content.textContent), (character) => character.charCodeAt(0))
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
    trial.querySelector('.later').innerHTML = await new Response(stream).text()
  }

  const offer = (select, values) => {
    const different = [...new Set(values)].sort()
    select.hidden = different.length < 2
    for (const value of different) select.append(new Option(value, value))
  }

  const orders = {
    plan: () => 0,
    time: (a, b) => b.dataset.time - a.dataset.time,
    cost: (a, b) => b.dataset.cost - a.dataset.cost,
    case: (a, b) => a.dataset.caseName.localeCompare(b.dataset.caseName),
    agent: (a, b) => a.dataset.agent.localeCompare(b.dataset.agent),
  }

  const label = () => {
    const visible = shown()
    unfold.textContent = visible.length > 0 && visible.every((trial) => trial.open) ? 'Close all' : 'Open all'
  }

  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1))
    if (!target?.classList.contains('trial')) return
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
      onlyCase = search.value = button.dataset.case
      agent.value = button.dataset.of
      tag.value = ''
      wanted = 'all'
      apply()
      document.querySelector('.trials').scrollIntoView({ block: 'start' })
    })
  search.addEventListener('input', () => {
    onlyCase = null
    apply()
  })
  unfold.addEventListener('click', () => {
    const open = unfold.textContent === 'Open all'
    for (const trial of shown()) trial.open = open
    label()
  })
  list.addEventListener(
    'toggle',
    (event) => {
      label()
      if (event.target.classList.contains('trial') && event.target.open) void unpack(event.target)
    },
    true,
  )
  order.addEventListener('change', () => list.append(...[...trials].sort(orders[order.value])))
  agent.addEventListener('change', apply)
  tag.addEventListener('change', apply)
  offer(
    agent,
    trials.map((trial) => trial.dataset.agent),
  )
  offer(
    tag,
    trials.flatMap((trial) => JSON.parse(trial.dataset.tags)),
  )
  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && document.activeElement !== search) {
      event.preventDefault()
      search.focus()
    }
    if (event.key === 'Escape' && document.activeElement === search) {
      search.value = ''
      onlyCase = null
      apply()
    }
  })
  for (const head of document.querySelectorAll('.cases thead th')) {
    const sort = () => {
      const body = head.closest('table').tBodies[0]
      const back = head.getAttribute('aria-sort') === 'ascending' ? -1 : 1
      for (const other of head.parentNode.cells) other.removeAttribute('aria-sort')
      head.setAttribute('aria-sort', back === 1 ? 'ascending' : 'descending')
      const key = (row) => row.cells[head.cellIndex].dataset.sort ?? row.cells[head.cellIndex].textContent
      body.append(
        ...[...body.rows].sort(
          (a, b) => back * (key(a) - key(b) || key(a).localeCompare(key(b), 'en', { numeric: true })),
        ),
      )
    }
    head.tabIndex = 0
    head.addEventListener('click', sort)
    head.addEventListener('keydown', (event) => event.key === 'Enter' && sort())
  }
  addEventListener('hashchange', reveal)
  apply()
  reveal()
})()
