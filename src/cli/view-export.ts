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
import { runHandlers } from '../server/runs/run-handlers.ts'
import type { TrialRow } from '../store/contract.ts'
import { findRun } from '../store/find-run.ts'
import { openRun } from '../store/open-run.ts'
import { trialIds } from '../store/read-trials.ts'
import type { CliContext } from './context.ts'

const everything = { offset: 0, limit: 1_000_000 }
/** Larger files stay on this machine. */
const maxFileBytes = 256 * 1024

interface WithFiles {
  readonly files: readonly { readonly path: string; readonly bytes: number }[]
  readonly changes?: readonly { readonly path: string }[]
}

type Values = Readonly<Record<string, string | number>>

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
  if (
    namesIn(dir).some(
      (name) => name !== 'index.html' && name !== 'assets' && name !== 'data' && name !== 'icon.svg',
    )
  )
    throw new GantryError('USAGE', `${dir} has other files in it`, { hint: 'Name a new directory.' })
  const store = openProjectStore(context)
  const runs = wanted.map((name) => findRun(store, name))
  const { hide, nameOf } = hiding(runs, projectRedaction(context.cwd, context.env).forPeople)
  const handlers = runHandlers({ store, project: null })
  const nothing = {
    id: '',
    run: '',
    trial: '',
    session: '',
    lastEventId: undefined,
    peerPort: undefined,
    body: undefined,
  }
  const put = (address: string, value: unknown): void =>
    writeFileAtomic(
      join(dir, 'data', exportedName(address)),
      typeof value === 'string' ? hide(value) : JSON.stringify(hide(value)),
    )
  const contentOf = (answer: ApiAnswer): unknown =>
    answer.kind === 'json' ? answer.value : answer.kind === 'text' ? answer.text : null
  const ask = async (address: string, answer: ApiAnswer | Promise<ApiAnswer>): Promise<unknown> => {
    const value = contentOf(await answer)
    const { files = [], changes = [] } = (value ?? {}) as Partial<WithFiles>
    for (const { path } of [...files, ...changes]) nameOf(path)
    if (value !== null) put(address, value)
    return value
  }
  const at = (path: string, query: Values): string =>
    `${path}?${new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)]))}`

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
  const list = contentOf(await handlers.listRuns({ ...nothing, query: everything })) as {
    readonly runs: readonly { readonly id: string; readonly kind: string }[]
  }
  const rows = list.runs.filter(({ id }) => runs.includes(id))
  const names = { agents: new Set<string>(), models: new Set<string>(), tags: new Set<string>() }
  let trials = 0
  for (const run of runs) {
    const base = `/v1/runs/${run}`
    const ids = trialIds(openRun(store, run).dir)
    for (const id of ids) nameOf(id)
    const shown = (await ask(base, handlers.getRun({ ...nothing, run, query: undefined }))) as WithFiles
    for (const { path, bytes } of shown.files)
      if (bytes <= maxFileBytes)
        await ask(
          at(`${base}/file`, { path: nameOf(path) }),
          handlers.runFile({ ...nothing, run, query: { path } }),
        )
    if (rows.some(({ id, kind }) => id === run && kind === 'plugin'))
      await ask(`${base}/plugin`, handlers.pluginRun({ ...nothing, run, query: undefined }))
    const all = contentOf(await handlers.listTrials({ ...nothing, run, query: everything })) as {
      readonly trials: readonly TrialRow[]
    }
    const shownTrials = all.trials.map((row) => {
      const tags = hide(JSON.parse(row.tags ?? '[]') as string[])
      names.agents.add(hide(row.agent))
      names.models.add(hide(row.model))
      for (const tag of tags) names.tags.add(tag)
      return { ...row, tags: JSON.stringify(tags) }
    })
    put(`${base}/trials`, { ...all, trials: shownTrials })
    // What a comparison needs of a run. Runs that cannot be compared have no such file.
    const side = await runSide(store, run).catch((error: unknown) => {
      if (error instanceof GantryError) return null
      throw error
    })
    if (side !== null) put(`${base}/side`, side)
    for (const trial of ids) {
      const given = { ...nothing, run, trial }
      const place = `${base}/trials/${nameOf(trial)}`
      const answer = (await ask(place, handlers.getTrial({ ...given, query: undefined }))) as WithFiles
      await ask(`${place}/evidence`, handlers.trialEvidence({ ...given, query: undefined }))
      for (let from = 0; ; ) {
        const query = { from, limit: 300, whole: 'true' as const }
        const part = (await ask(
          at(`${place}/events`, { from }),
          handlers.trialEvents({ ...given, query }),
        )) as {
          readonly next: number
          readonly events: readonly unknown[]
        }
        if (part.events.length === 0) break
        from = part.next
      }
      for (const { path } of answer.changes ?? [])
        await ask(
          at(`${place}/diff`, { path: nameOf(path) }),
          handlers.trialDiff({ ...given, query: { path } }),
        )
      for (const { path, bytes } of answer.files)
        if (bytes <= maxFileBytes)
          await ask(
            at(`${place}/file`, { path: nameOf(path) }),
            handlers.trialFile({ ...given, query: { path } }),
          )
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
