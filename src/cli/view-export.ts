import { cpSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openProjectStore } from '../config/open-project-store.ts'
import { counted } from '../core/counted.ts'
import { GantryError } from '../core/error.ts'
import { exportedName } from '../core/exported-name.ts'
import { createRedaction } from '../core/redaction.ts'
import { version } from '../core/version.ts'
import { namesIn } from '../io/directory.ts'
import { writeFileAtomic } from '../io/files.ts'
import type { ApiAnswer } from '../server/answer.ts'
import { pageDirectory, pagePolicy } from '../server/page-files.ts'
import { runHandlers } from '../server/runs/run-handlers.ts'
import { findRun } from '../store/find-run.ts'
import { openRun } from '../store/open-run.ts'
import { trialIds } from '../store/read-trials.ts'
import type { CliContext } from './context.ts'

const everything = { offset: 0, limit: 1_000_000 }
/** Larger files stay on this machine. */
const maxFileBytes = 256 * 1024

type Values = Readonly<Record<string, string | number>>

/** Writes the page with the answers of its server as files. Personal data is hidden, because the folder is made to be shared. */
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
  const { forPeople } = createRedaction([], context.env)
  const handlers = runHandlers({ store, project: null, forPeople })
  const nothing = { id: '', run: '', trial: '', session: '', lastEventId: undefined, body: undefined }
  const put = (address: string, value: unknown): void =>
    writeFileAtomic(
      join(dir, 'data', exportedName(address)),
      typeof value === 'string' ? value : JSON.stringify(value),
    )
  const contentOf = (answer: ApiAnswer): unknown =>
    answer.kind === 'json' ? answer.value : answer.kind === 'text' ? answer.text : null
  const ask = async (address: string, answer: ApiAnswer | Promise<ApiAnswer>): Promise<unknown> => {
    const value = contentOf(await answer)
    if (value !== null) put(address, value)
    return value
  }
  const at = (path: string, query: Values): string =>
    `${path}?${new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)]))}`

  cpSync(page, dir, { recursive: true })
  writeFileAtomic(join(dir, 'index.html'), exportedPage(readFileSync(join(page, 'index.html'), 'utf8')))
  put('/v1/about', { version, store: '', project: null, tasks: false, now: store.clock.now().toISOString() })
  const list = contentOf(await handlers.listRuns({ ...nothing, query: everything })) as {
    readonly runs: readonly { readonly id: string; readonly kind: string }[]
  }
  const rows = list.runs.filter(({ id }) => runs.includes(id))
  put('/v1/runs', { runs: rows, total: rows.length, names: { agents: [], models: [], tags: [] } })
  const trend = contentOf(await handlers.trends({ ...nothing, query: { limit: 1_000_000 } })) as {
    readonly cases: readonly string[]
    readonly points: readonly { readonly run: string }[]
  }
  put('/v1/trends', { ...trend, points: trend.points.filter(({ run }) => runs.includes(run)) })
  let trials = 0
  for (const run of runs) {
    const base = `/v1/runs/${run}`
    await ask(base, handlers.getRun({ ...nothing, run, query: undefined }))
    if (rows.some(({ id, kind }) => id === run && kind === 'plugin'))
      await ask(`${base}/plugin`, handlers.pluginRun({ ...nothing, run, query: undefined }))
    await ask(`${base}/trials`, handlers.listTrials({ ...nothing, run, query: everything }))
    for (const trial of trialIds(openRun(store, run).dir)) {
      const given = { ...nothing, run, trial }
      const place = `${base}/trials/${trial}`
      const answer = (await ask(place, handlers.getTrial({ ...given, query: undefined }))) as {
        readonly changes: readonly { readonly path: string }[]
        readonly files: readonly { readonly path: string; readonly bytes: number }[]
      }
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
      for (const { path } of answer.changes)
        await ask(at(`${place}/diff`, { path }), handlers.trialDiff({ ...given, query: { path } }))
      for (const { path, bytes } of answer.files)
        if (bytes <= maxFileBytes)
          await ask(at(`${place}/file`, { path }), handlers.trialFile({ ...given, query: { path } }))
      trials += 1
    }
  }
  const scenarios = rows
    .filter(({ kind }) => kind === 'scenario')
    .map(({ id }) => id)
    .reverse()
  for (const sides of sideLists(scenarios))
    await ask(at('/v1/comparisons', { sides }), handlers.compare({ ...nothing, query: { sides } })).catch(
      (error: unknown) => {
        // Runs of other cases have nothing to compare.
        if (!(error instanceof GantryError)) throw error
      },
    )
  context.stdout.write(
    `${counted(runs.length, 'run')} with ${counted(trials, 'trial')} written to ${dir}. Put the folder on any web server: a browser does not load it from a disk.\n`,
  )
}

/** Every two runs, and all of them. */
function sideLists(runs: readonly string[]): string[] {
  const pairs = runs.flatMap((a, index) => runs.slice(index + 1).map((b) => `${a},${b}`))
  return [...new Set([...pairs.slice(0, 100), ...(runs.length > 2 ? [runs.slice(0, 10).join(',')] : [])])]
}

/** The page as it is, with the place of its data and the policy that a server would send. */
function exportedPage(html: string): string {
  const tags = `<meta name="gantry-data" content="./data" /><meta http-equiv="Content-Security-Policy" content="${pagePolicy.replaceAll('"', '&quot;')}" />`
  return html.replace('<head>', `<head>${tags}`)
}
