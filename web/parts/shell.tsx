import { Link, Outlet } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { exported, useApi } from '../api/client.ts'
import { KeyHelp, useKeys } from './keys.tsx'

const views = [
  ['/', 'Runs'],
  ['/compare', 'Compare'],
  ['/trends', 'Trends'],
  ['/tasks', 'Tasks'],
  ['/queue', 'Queue'],
  ['/labels', 'Labels'],
  ['/guard', 'Guard'],
  ['/plugins', 'Plugins'],
]

/** An exported copy has runs only. */
function isShown([to = '']: readonly string[]): boolean {
  return exported === null || ['/', '/compare', '/trends', '/plugins'].includes(to)
}

type Theme = 'auto' | 'light' | 'dark'

/** What every view has around it. */
export function Shell() {
  const [theme, setTheme] = useState<Theme>(
    () => (localStorage.getItem('gantry-theme') as Theme | null) ?? 'auto',
  )
  useEffect(() => {
    localStorage.setItem('gantry-theme', theme)
    document.documentElement.dataset.theme = theme
  }, [theme])
  useKeys([
    { key: '/', label: 'search', run: () => document.querySelector<HTMLElement>('[data-search]')?.focus() },
  ])
  const { data } = useApi('about', {}, { staleTime: 60_000 })
  return (
    <>
      <a className="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <header className="top">
        <span className="brand">Gantry</span>
        <nav aria-label="Views">
          {views
            .filter(isShown)
            .filter(([to]) => to !== '/queue' || data?.queue === true)
            .map(([to, name]) => (
              <Link key={to} to={to as never} activeOptions={{ exact: to === '/' }}>
                {name}
              </Link>
            ))}
        </nav>
        <span className="top-end">
          {exported !== null && <span className="chip">exported copy</span>}
          <label className="theme">
            <span className="hidden">Colours</span>
            <select value={theme} onChange={(event) => setTheme(event.target.value as Theme)}>
              <option value="auto">auto</option>
              <option value="light">light</option>
              <option value="dark">dark</option>
            </select>
          </label>
          <small title={data?.store}>{data === undefined ? '' : data.version}</small>
        </span>
      </header>
      <main id="main" tabIndex={-1}>
        <Outlet />
      </main>
      <KeyHelp />
    </>
  )
}

/** The address after `#` belongs to the views. */
function skip(event: { preventDefault(): void }): void {
  event.preventDefault()
  document.getElementById('main')?.focus()
}
