import { GantryError } from '../core/error.ts'
import { anthropicAccess } from './ai-sdk/access.ts'
import type { BatchingOptions } from './batch/create-batching-model.ts'
import { type Budget, createBudget } from './budget.ts'
import type { Model } from './contract.ts'
import { createModel } from './loop.ts'
import { freePrice, type PriceTable, priceOf } from './price-table.ts'
import { builtInPrices } from './prices.ts'
import type { Provider, ProviderContext } from './provider.ts'
import { type CallRetryPolicy, defaultRetryPolicy, realSleep, type Sleep } from './retry.ts'
import { requireModel } from './select-model.ts'

/** Loaded on demand: most runs need no model here. */
const providers: Readonly<Record<string, () => Promise<Provider>>> = {
  anthropic: async () => (await import('./ai-sdk/providers.ts')).anthropic,
  openai: async () => (await import('./ai-sdk/providers.ts')).openai,
  'openai-compatible': async () => (await import('./ai-sdk/providers.ts')).openaiCompatible,
  google: async () => (await import('./ai-sdk/providers.ts')).google,
  scripted: async () => (await import('./scripted/provider.ts')).scripted,
}

export interface ModelContext extends ProviderContext {
  /** Shared by everything that spends money in a run. Default: no cap. */
  readonly budget?: Budget
  /** The user's prices; they override the provider's own. */
  readonly prices?: PriceTable
  /** Its answers come from a recording. */
  readonly isFree?: boolean
  /** Time limit of one call. Default: two minutes, or up to five for calls with long answers. */
  readonly timeoutMs?: number
  readonly retry?: CallRetryPolicy
  readonly sleep?: Sleep
  readonly random?: () => number
}

/**
 * The model that a user named as `provider:model`, or the one that `default` selects. Throws GantryError when there is no access to it.
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
      `there is no access to models of '${providerName}', so '${name}' cannot be used`,
      { hint: knownProviders() },
    )
  const opened = await (await load())(model, context)
  return createModel({
    name,
    opened,
    price:
      context.isFree === true
        ? freePrice
        : (priceOf(name, context.prices ?? {}) ?? opened.price ?? priceOf(name, builtInPrices)),
    budget: context.budget ?? createBudget(null),
    timeoutMs: context.timeoutMs ?? null,
    policy: context.retry ?? defaultRetryPolicy,
    sleep: context.sleep ?? realSleep,
    random: context.random ?? Math.random,
  })
}

export type BatchingContext = ModelContext & Omit<BatchingOptions, 'model' | 'key' | 'baseUrl'>

/**
 * A model that collects single calls and sends them in batches, at half the price, when it is flushed. null when Gantry
 * supports no batches of its provider: then use it as any other model.
 */
export async function resolveBatchingModel(asked: string, context: BatchingContext) {
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
