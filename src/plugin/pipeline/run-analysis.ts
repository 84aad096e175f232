import { resolve } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { monotonicMs } from '../../io/clock.ts'
import { writeJsonAtomic } from '../../io/files.ts'
import { realPath } from '../../io/resolve-links.ts'
import { analyzePlugin } from '../analyze/analyze-plugin.ts'
import type { Analysis, Preflight } from '../analyze/contract.ts'
import { componentList } from '../component-list.ts'
import { completed } from '../state/evaluation-state.ts'
import type { EvaluationWork } from './evaluation-work.ts'

/** Stage 1: analyses the files of the plugin and of the crowd. Calls no model. */
export async function runAnalysis(work: EvaluationWork): Promise<Analysis> {
  const { request, context, files, run } = work
  const startedMs = monotonicMs()
  context.onStep({ kind: 'stage_start', stage: 'analysis', total: 0 })
  const company = await analyseCrowd(work)
  const analysis = await analysed(
    request.target.path,
    context.cwd,
    company.map(({ plugin_path: path }) => path),
  )
  refuseOtherName(analysis, request.config.plugin?.name)
  const crowd = withoutTwins(analysis, company, work)
  for (const { message } of analysis.preflight.warnings)
    context.onStep({ kind: 'note', level: 'warning', message })
  const errors = analysis.findings.filter(({ severity }) => severity === 'error')
  for (const { code, message } of errors)
    context.onStep({ kind: 'note', level: 'warning', message: `${code}: ${message}` })
  writeJsonAtomic(files.crowd, crowd)
  writeJsonAtomic(files.analysis, analysis)
  run.change({ title: analysis.plugin_name, details: { plugin: analysis.plugin_name } })
  work.advance((state, now) => ({
    ...completed(state, 'analysis', now),
    plugin_name: analysis.plugin_name,
    content_hash: analysis.content_hash,
  }))
  context.onStep({
    kind: 'stage_complete',
    stage: 'analysis',
    duration_ms: monotonicMs() - startedMs,
    count: componentList(analysis.components).length,
  })
  return analysis
}

async function analysed(path: string, cwd: string, crowd: readonly string[] = []): Promise<Analysis> {
  const outcome = await analyzePlugin({ path, cwd, crowd })
  if (outcome.kind === 'analysed') return outcome.analysis
  throw preflightError(outcome.preflight)
}

/** The first preflight error, with its code and suggestion. */
export function preflightError({ errors, plugin_path: path }: Preflight): GantryError {
  const [first] = errors
  return new GantryError(
    first?.code === 'PATH_NOT_FOUND'
      ? 'NOT_FOUND'
      : first?.code === 'PATH_DANGEROUS'
        ? 'UNSAFE_PATH'
        : 'INVALID_FILE',
    first === undefined ? `${path} is not a plugin` : `${first.code}: ${first.message}`,
    first === undefined ? {} : { hint: first.suggestion },
  )
}

/** Refuses a plugin whose name is not the configured one. */
function refuseOtherName(
  { plugin_name: found, plugin_path: path }: Analysis,
  wanted: string | undefined,
): void {
  if (wanted === undefined || wanted === found) return
  throw new GantryError('USAGE', `the plugin in ${path} is called '${found}', not '${wanted}'`, {
    hint: 'Correct plugin.name or plugin.path.',
  })
}

/** A broken plugin that only the marketplace added is left out. One that the user named is an error. */
async function analyseCrowd(work: EvaluationWork): Promise<readonly Analysis[]> {
  const { cwd } = work.context
  const crowd: Analysis[] = []
  for (const path of work.request.target.crowd) {
    const outcome = await analyzePlugin({ path, cwd, crowd: [] })
    if (outcome.kind === 'analysed') crowd.push(outcome.analysis)
    else if (isNamed(path, work)) throw preflightError(outcome.preflight)
    else leaveOut(path, preflightError(outcome.preflight).message, work)
  }
  return crowd
}

/** Claude Code would load only one of two plugins with the same name, and it would be unclear whose component fired. */
function withoutTwins(
  own: Analysis,
  company: readonly Analysis[],
  work: EvaluationWork,
): readonly Analysis[] {
  const seen = new Map([[own.plugin_name, own.plugin_path]])
  return company.filter(({ plugin_name: name, plugin_path: path }) => {
    const twin = seen.get(name)
    if (twin === undefined) {
      seen.set(name, path)
      return true
    }
    if (isNamed(path, work))
      throw new GantryError('USAGE', `two plugins are called '${name}': ${twin} and ${path}`, {
        hint: 'Leave one of them out.',
      })
    leaveOut(path, `it is called '${name}' as ${twin} is`, work)
    return false
  })
}

function isNamed(path: string, { request, context }: EvaluationWork): boolean {
  return request.config.execution.additional_plugins.some(
    (named) => realPath(resolve(context.cwd, named)) === realPath(path),
  )
}

function leaveOut(path: string, why: string, { context }: EvaluationWork): void {
  context.onStep({ kind: 'note', level: 'warning', message: `${path} is left out of the crowd: ${why}` })
}
