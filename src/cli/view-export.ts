import { cpSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openProjectStore } from '../config/open-project-store.ts'
import { projectRedaction } from '../config/project-redaction.ts'
import { counted } from '../core/counted.ts'
import { GantryError } from '../core/error.ts'
import { exportedName } from '../core/exported-name.ts'
import { marker } from '../core/redact/replace-spans.ts'
import { createValueRedactor } from '../core/redact/value-redactor.ts'
import { version } from '../core/version.ts'
import { namesIn } from '../io/directory.ts'
import { writeFileAtomic } from '../io/files.ts'
import { runSide } from '../scenario/open-side.ts'
import type { ApiAnswer } from '../server/answer.ts'
import { pageDirectory, pagePolicy } from '../server/page-files.ts'
import type { RunHandlers } from '../server/runs/contract.ts'
import { runHandlers } from '../server/runs/run-handlers.ts'
import { runRoutes } from '../server/runs/run-routes.ts'
import type { RunRow, TrialRow } from '../store/contract.ts'
import { findRun } from '../store/find-run.ts'
import { trialIds } from '../store/read-trials.ts'
import type { CliContext } from './context.ts'

/** Larger files stay on this machine. */
const maxFileBytes = 256 * 1024

interface WithFiles {
  readonly files: readonly { readonly path: string; readonly bytes: number }[]
  readonly changes?: readonly { readonly path: string }[]
}

type Asked = Exclude<keyof typeof runRoutes & keyof RunHandlers, 'runEvents'>

/** Writes the page with the answers of its server as files. Personal data is hidden in all of them, because the folder is made to be shared. */
export async function exportView(to: string, wanted: readonly string[], context: CliContext): Promise<void> {
  const page = pageDirectory()
  if (page === null)
    throw new GantryError('NOT_FOUND', 'the page is not built', {
      hint: 'In a checkout run: npm run build:view',
    })
  if (wanted.length === 0)
    throw new GantryError('USAGE', 'name the runs to export', { hint: 'gantry view --export DIR latest' })
  const dir = resolve(context.cwd, to)
  if (namesIn(dir).some((name) => !['index.html', 'assets', 'data', 'icon.svg'].includes(name)))
    throw new GantryError('USAGE', `${dir} has other files in it`, { hint: 'Name a new directory.' })
  const store = openProjectStore(context)
  const runs = wanted.map((name) => findRun(store, name))
  const { hide, nameOf } = hiding(runs, projectRedaction(context.cwd, context.env).forPeople)
  const handlers = runHandlers({ store, project: null })
  const put = (address: string, value: unknown): void =>
    writeFileAtomic(
      join(dir, 'data', exportedName(address)),
      typeof value === 'string' ? hide(value) : JSON.stringify(hide(value)),
    )
  /** What the page would get of a route. Trials and files have the names by which the page asks. */
  const ask = async <Value>(
    name: Asked,
    { run, trial = '' }: { readonly run: string; readonly trial?: string },
    query: { readonly path?: string; readonly from?: number } = {},
  ): Promise<Value> => {
    const handler = handlers[name] as (given: object) => ApiAnswer | Promise<ApiAnswer>
    const limits = { offset: 0, limit: name === 'trialEvents' ? 300 : 1_000_000, whole: 'true' }
    const answer = await handler({ run, trial, query: { ...limits, ...query } })
    const value = answer.kind === 'json' ? answer.value : answer.kind === 'text' ? answer.text : null
    const { files = [], changes = [] } = (value ?? {}) as Partial<WithFiles>
    for (const { path } of [...files, ...changes]) nameOf(path)
    const words = Object.entries(query).map(([key, word]) => [
      key,
      key === 'path' ? nameOf(String(word)) : `${word}`,
    ])
    const address = runRoutes[name].at
      .replace(/^\w+ /, '')
      .replace('{run}', run)
      .replace('{trial}', () => nameOf(trial))
    if (value !== null) put(words.length === 0 ? address : `${address}?${new URLSearchParams(words)}`, value)
    return value as Value
  }

  cpSync(page, dir, { recursive: true })
  writeFileAtomic(join(dir, 'index.html'), exportedPage(readFileSync(join(page, 'index.html'), 'utf8')))
  put('/v1/about', {
    version,
    store: '',
    project: null,
    tasks: false,
    queue: false,
    now: store.clock.now().toISOString(),
  })
  const { runs: all } = await ask<{ readonly runs: readonly RunRow[] }>('listRuns', { run: '' })
  const rows = all.filter(({ id }) => runs.includes(id))
  const names = { agents: new Set<string>(), models: new Set<string>(), tags: new Set<string>() }
  let trials = 0
  for (const { id: run, dir: runDir, kind } of rows) {
    const ids = trialIds(runDir)
    for (const id of ids) nameOf(id)
    const shown = await ask<WithFiles>('getRun', { run })
    for (const { path, bytes } of shown.files)
      if (bytes <= maxFileBytes) await ask('runFile', { run }, { path })
    if (kind === 'plugin') await ask('pluginRun', { run })
    const list = await ask<{ readonly trials: readonly TrialRow[] }>('listTrials', { run })
    const shownTrials = list.trials.map((row) => {
      const tags = hide(JSON.parse(row.tags ?? '[]') as string[])
      names.agents.add(hide(row.agent))
      names.models.add(hide(row.model))
      for (const tag of tags) names.tags.add(tag)
      return { ...row, tags: JSON.stringify(tags) }
    })
    put(`/v1/runs/${run}/trials`, { ...list, trials: shownTrials })
    // What a comparison needs of a run. Runs that cannot be compared have no such file.
    const side = await runSide(store, run).catch((error: unknown) => {
      if (error instanceof GantryError) return null
      throw error
    })
    if (side !== null) put(`/v1/runs/${run}/side`, side)
    for (const trial of ids) {
      const place = { run, trial }
      const { changes = [], files } = await ask<WithFiles>('getTrial', place)
      await ask('trialEvidence', place)
      for (let from = 0, isEnd = false; !isEnd; ) {
        const part = await ask<{ readonly next: number; readonly events: readonly unknown[] }>(
          'trialEvents',
          place,
          { from },
        )
        isEnd = part.events.length === 0
        from = part.next
      }
      for (const { path } of changes) await ask('trialDiff', place, { path })
      for (const { path, bytes } of files) if (bytes <= maxFileBytes) await ask('trialFile', place, { path })
      trials += 1
    }
  }
  const sorted = Object.entries(names).map(([key, found]) => [key, [...found].sort()])
  put('/v1/runs', { runs: rows, total: rows.length, names: Object.fromEntries(sorted) })
  context.stdout.write(
    `${counted(runs.length, 'run')} with ${counted(trials, 'trial')} written to ${dir}. Put the folder on any web server: a browser does not load it from a disk.\n`,
  )
}

/**
 * Hides personal data in whatever the copy contains. Names of trials and files are hidden too but stay different from each other,
 * because the page asks for files of the copy by them.
 */
function hiding(runs: readonly string[], forPeople: (value: unknown) => unknown) {
  const names = new Map(runs.map((run) => [run, run]))
  const taken = new Set<string>()
  const hide = createValueRedactor(
    (text) => names.get(text) ?? (isTime.test(text) ? text : String(forPeople(text))),
  )
  const nameOf = (name: string): string => {
    const known = names.get(name)
    if (known !== undefined) return known
    const hidden = hide(name).replaceAll(marker, 'REDACTED')
    let shown = hidden
    for (let count = 2; taken.has(shown); count += 1) shown = `${hidden}-${count}`
    taken.add(shown)
    names.set(name, shown)
    return shown
  }
  return { hide, nameOf }
}

/** A pattern of a project for long numbers would hide the time of every event. */
const isTime = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

/** The page as it is, with the place of its data and the policy that a server would send. */
function exportedPage(html: string): string {
  const tags = `<meta name="gantry-data" content="./data" /><meta http-equiv="Content-Security-Policy" content="${pagePolicy.replaceAll('"', '&quot;')}" />`
  return html.replace('<head>', `<head>${tags}`)
}
