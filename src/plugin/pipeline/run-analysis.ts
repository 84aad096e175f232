import { resolve } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { writeJsonAtomic } from '../../io/files.ts'
import { realPath } from '../../io/resolve-links.ts'
import { type AnalyzeOptions, analyzePlugin } from '../analyze/analyze-plugin.ts'
import type { Analysis, Preflight } from '../analyze/contract.ts'
import { componentList } from '../component-list.ts'
import { contextWindow, expectedAgentModel } from '../config/model-names.ts'
import { note } from '../contract.ts'
import { completed } from '../state/evaluation-state.ts'
import type { EvaluationWork } from './evaluation-work.ts'

/** Stage 1: analyses the files of the plugin and of the crowd. Calls no model. Returns the number of components. */
export async function runAnalysis(work: EvaluationWork): Promise<number> {
  const { request, context, files, run } = work
  context.onStep({ kind: 'stage_start', stage: 'analysis', total: 0 })
  const company = await analyseCrowd(work)
  const { model, env } = request.config.execution
  const analysis = await analysed({
    path: request.target.path,
    cwd: context.cwd,
    crowd: company.map(({ plugin_path: path }) => path),
    contextTokens: contextWindow(expectedAgentModel(model, env)),
  })
  refuseOtherName(analysis, request.config.plugin?.name)
  const crowd = withoutTwins(analysis, company, work)
  for (const { message } of analysis.preflight.warnings) note(context.onStep, 'warning', message)
  for (const { code, message, severity } of analysis.findings)
    if (severity === 'error') note(context.onStep, 'warning', `${code}: ${message}`)
  writeJsonAtomic(files.crowd, crowd)
  writeJsonAtomic(files.analysis, analysis)
  run.change({ title: analysis.plugin_name, details: { plugin: analysis.plugin_name } })
  work.advance((state, now) => ({
    ...completed(state, 'analysis', now),
    plugin_name: analysis.plugin_name,
    content_hash: analysis.content_hash,
  }))
  return componentList(analysis.components).length
}

/** Throws GantryError when the preflight fails. */
export async function analysed(options: AnalyzeOptions): Promise<Analysis> {
  const outcome = await analyzePlugin(options)
  if (outcome.kind === 'analysed') return outcome.analysis
  throw preflightError(outcome.preflight)
}

/** The analysis with the listing of the model that really runs. What Claude Code shows of it depends on its window. */
export async function withListingOf(
  model: string | undefined,
  analysis: Analysis,
  crowd: readonly string[],
  cwd: string,
): Promise<Analysis> {
  const window = model === undefined ? analysis.listing.context_tokens : contextWindow(model)
  if (window === undefined || window === analysis.listing.context_tokens) return analysis
  const { listing, findings } = await analysed({
    path: analysis.plugin_path,
    cwd,
    crowd,
    contextTokens: window,
  })
  return { ...analysis, listing, findings }
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

function refuseOtherName({ plugin_name: found, plugin_path: path }: Analysis, wanted: string | undefined) {
  if (wanted === undefined || wanted === found) return
  throw new GantryError('USAGE', `the plugin in ${path} is called '${found}', not '${wanted}'`, {
    hint: 'Correct plugin.name or plugin.path.',
  })
}

/** A broken plugin from the marketplace is skipped. One that the user named is an error. */
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
        hint: 'Remove one of them.',
      })
    leaveOut(path, `it has the same name as ${twin}: '${name}'`, work)
    return false
  })
}

function isNamed(path: string, { request, context }: EvaluationWork): boolean {
  return request.config.execution.additional_plugins.some(
    (named) => realPath(resolve(context.cwd, named)) === realPath(path),
  )
}

function leaveOut(path: string, why: string, { context }: EvaluationWork): void {
  note(context.onStep, 'warning', `${path} is not part of the crowd: ${why}`)
}
