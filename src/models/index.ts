import { GantryError } from '../core/error.ts'
import { anthropicAccess } from './ai-sdk/access.ts'
import type { BatchingModel } from './batch/create-batching-model.ts'
import type { BatchJournal, BatchSize } from './batch/journal.ts'
import { type Budget, createBudget } from './budget.ts'
import type { Model } from './contract.ts'
import { createModel } from './loop.ts'
import { builtInPrices } from './prices.ts'
import { type PriceTable, priceOf } from './pricing.ts'
import type { Provider, ProviderContext } from './provider.ts'
import { type CallRetryPolicy, defaultRetryPolicy, realSleep, type Sleep } from './retry.ts'
import { requireModel } from './select-model.ts'

/** Loaded when asked for: most runs need no model of their own. */
const providers: Readonly<Record<string, () => Promise<Provider>>> = {
  anthropic: async () => (await import('./ai-sdk/anthropic.ts')).anthropic,
  openai: async () => (await import('./ai-sdk/openai.ts')).openai,
  'openai-compatible': async () => (await import('./ai-sdk/openai-compatible.ts')).openaiCompatible,
  google: async () => (await import('./ai-sdk/google.ts')).google,
  scripted: async () => (await import('./scripted/provider.ts')).scripted,
}

export interface ModelContext extends ProviderContext {
  /** Shared by everything that spends in a run. Default: no cap. */
  readonly budget?: Budget
  /** The user's prices; they win over the provider's own. */
  readonly prices?: PriceTable
  /** Of one call. Default: two minutes, or up to five for calls that may answer at length. */
  readonly timeoutMs?: number
  readonly retry?: CallRetryPolicy
  readonly sleep?: Sleep
  readonly random?: () => number
}

/**
 * The model a user named as `provider:model`, or the one that `default` stands for. Throws GantryError when there is no
 * access to it.
 */
export async function resolveModel(asked: string, context: ModelContext): Promise<Model> {
  const name = asked === 'default' ? requireModel(context.env) : asked
  const colon = name.indexOf(':')
  const [providerName, model] = [name.slice(0, colon), name.slice(colon + 1)]
  if (colon < 1 || model === '')
    throw new GantryError('USAGE', `'${name}' does not name a model`, {
      hint: `Write it as provider:model. ${knownProviders()}`,
    })
  const load = Object.hasOwn(providers, providerName) ? providers[providerName] : undefined
  if (load === undefined)
    throw new GantryError(
      'NOT_FOUND',
      `there is no access to models of '${providerName}', so '${name}' cannot be asked`,
      {
        hint: knownProviders(),
      },
    )
  const opened = await (await load()).open(model, context)
  return createModel({
    name,
    opened,
    price: priceOf(name, context.prices ?? {}) ?? opened.price ?? priceOf(name, builtInPrices),
    budget: context.budget ?? createBudget(null),
    timeoutMs: context.timeoutMs ?? null,
    policy: context.retry ?? defaultRetryPolicy,
    sleep: context.sleep ?? realSleep,
    random: context.random ?? Math.random,
  })
}

export interface BatchingContext extends ModelContext {
  /** In the directory of the run, so that a resumed run finds its batches. */
  readonly cancelOnAbort?: boolean
  readonly journal: BatchJournal
  readonly minimum?: number
  readonly pollMs?: number
  readonly batchTimeoutMs?: number
  readonly most?: BatchSize
  readonly signal?: AbortSignal
}

/**
 * A model whose single questions are gathered and asked in batches, at half the price, once it is flushed. null when its
 * provider has no batches that we use: then ask it as any other.
 */
export async function resolveBatchingModel(
  asked: string,
  context: BatchingContext,
): Promise<BatchingModel | null> {
  const name = asked === 'default' ? requireModel(context.env) : asked
  if (!name.startsWith('anthropic:')) return null
  const { createBatchingModel } = await import('./batch/create-batching-model.ts')
  const { apiKey, baseURL } = anthropicAccess(context.env, name)
  return createBatchingModel({
    ...context,
    model: await resolveModel(name, context),
    key: apiKey,
    baseUrl: baseURL,
  })
}

function knownProviders(): string {
  return `Known providers: ${Object.keys(providers).join(', ')}.`
}
