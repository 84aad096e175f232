import { join } from 'node:path'
import { withEndpoint } from '../../config/model-opener.ts'
import { GantryError } from '../../core/error.ts'
import { definedVariables } from '../../core/expand.ts'
import { isDirectory } from '../../io/path-kind.ts'
import { temporaryDirectory } from '../../io/temporary-directory.ts'
import { type LinkSession, openModelLink } from '../../models/boundary/open-model-link.ts'
import { upstreamFrom } from '../../models/boundary/upstream.ts'
import type { Model } from '../../models/contract.ts'
import { resolveModel } from '../../models/index.ts'
import { builtInPrices } from '../../models/prices.ts'
import { selectModel } from '../../models/select-model.ts'
import { retryWaits } from '../execute/execute-trials.ts'
import type { EvaluationWork } from './evaluation-work.ts'

/** A model of a stage: the writer of scenarios, or the judge. */
export interface StageModel extends AsyncDisposable {
  readonly model: Model
}

export interface StageModelOptions {
  /** Of the configuration, aliases resolved. */
  readonly name: string
  /** Directory of its cassette below the run's, such as `_generation`. */
  readonly cassette: string
  readonly timeoutMs: number
}

/**
 * The model of a stage, with a cassette when traffic is recorded or replayed, so that CI needs no key for it either. null
 * without access to a model.
 */
export async function openStageModel(
  work: EvaluationWork,
  { name, cassette, timeoutMs }: StageModelOptions,
): Promise<StageModel | null> {
  const { request, context, budget } = work
  const { project } = context
  const env = definedVariables(context.env)
  const open = (variables: Readonly<Record<string, string>>): Promise<Model> =>
    resolveModel(name, {
      env: variables,
      base: project.root,
      prices: project.config.models,
      isFree: request.replay === 'strict',
      budget,
      timeoutMs,
      retry: retryWaits(request.config),
    })
  if (request.replay === 'off' || name.startsWith('scripted:')) {
    try {
      return { model: await open(env), [Symbol.asyncDispose]: async () => {} }
    } catch (error) {
      if (error instanceof GantryError && error.code === 'NOT_FOUND' && name === 'default') return null
      throw error
    }
  }
  if (!isRecordable(work, { name, cassette })) return null
  const session = await openTape(work, join(request.cassettes, cassette))
  return {
    model: await open(withEndpoint(session.endpoint, env)),
    [Symbol.asyncDispose]: async () => {
      await session.finish({ keep: true })
    },
  }
}

/** Whether `openStageModel` would open one. Leaves no recording. */
export async function hasStageModel(work: EvaluationWork, options: StageModelOptions): Promise<boolean> {
  if (work.request.replay !== 'off' && !options.name.startsWith('scripted:'))
    return isRecordable(work, options)
  await using opened = await openStageModel(work, options)
  return opened !== null
}

/** False without a recording and without access to a model. */
function isRecordable(
  { request, context }: EvaluationWork,
  { name, cassette }: Pick<StageModelOptions, 'name' | 'cassette'>,
): boolean {
  if (isDirectory(join(request.cassettes, cassette))) return true
  const hasAccess = name !== 'default' || selectModel(definedVariables(context.env)) !== null
  return request.replay !== 'strict' && hasAccess
}

async function openTape(
  { context, request, redaction, boundary }: EvaluationWork,
  cassette: string,
): Promise<LinkSession> {
  // These directories are not used. The cassette only needs paths to mask.
  using scratch = temporaryDirectory('gantry-plugin-')
  const places = { workspace: `${scratch.path}/w`, home: `${scratch.path}/h`, tmp: `${scratch.path}/t` }
  return openModelLink(
    await boundary(),
    { source: { kind: 'provider', upstream: upstreamFrom(context.env) }, replay: request.replay },
    {
      places,
      cassette,
      redact: redaction.text,
      facts: { case: cassette },
      prices: { ...builtInPrices, ...context.project.config.models },
    },
  )
}
