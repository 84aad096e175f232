import { GantryError } from '../core/error.ts'
import { type Budget, createBudget } from './budget.ts'
import type { Model } from './contract.ts'
import { createModel } from './create-model.ts'
import { type PriceTable, priceOf } from './pricing.ts'
import type { Provider, ProviderContext } from './provider.ts'
import { defaultRetryPolicy, type RetryPolicy, realSleep, type Sleep } from './retry.ts'

/** Loaded when asked for: most runs need no model of their own. */
const providers: Readonly<Record<string, () => Promise<Provider>>> = {
  scripted: async () => (await import('./scripted/provider.ts')).scripted,
}

export interface ModelContext extends ProviderContext {
  /** Shared by everything that spends in a run. Default: no cap. */
  readonly budget?: Budget
  /** The user's prices; they win over the provider's own. */
  readonly prices?: PriceTable
  /** Of one call. Default two minutes. */
  readonly timeoutMs?: number
  readonly retry?: RetryPolicy
  readonly sleep?: Sleep
  readonly random?: () => number
}

/** The model a user named as `provider:model`. Throws GantryError when there is no access to it. */
export async function resolveModel(name: string, context: ModelContext): Promise<Model> {
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
    price: priceOf(name, context.prices ?? {}) ?? opened.price,
    budget: context.budget ?? createBudget(null),
    timeoutMs: context.timeoutMs ?? 120_000,
    policy: context.retry ?? defaultRetryPolicy,
    sleep: context.sleep ?? realSleep,
    random: context.random ?? Math.random,
  })
}

function knownProviders(): string {
  return `Known providers: ${Object.keys(providers).join(', ')}.`
}
