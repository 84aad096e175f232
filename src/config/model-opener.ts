import { endpointVariables, type ModelEndpoint } from '../models/boundary/contract.ts'
import { createBudget } from '../models/budget.ts'
import type { Model } from '../models/contract.ts'
import type { Project } from './load.ts'

export interface OpenModelOptions {
  readonly env: Readonly<Record<string, string>>
  readonly endpoint?: ModelEndpoint
  readonly maxCostUsd?: number
  /** Asked with what all calls need; returns the limit that applies now. */
  readonly raiseCostLimit?: ((neededUsd: number) => number | null) | undefined
}

/** How an agent that runs in process gets its model: with the project's prices, and through the boundary when it has a model link. */
export function modelOpener({
  root,
  config,
}: Project): (name: string, options: OpenModelOptions) => Promise<Model> {
  return async (name, { env, endpoint, maxCostUsd, raiseCostLimit }) => {
    // Loaded when needed, because most runs open no model themselves.
    const { resolveModel } = await import('../models/index.ts')
    return resolveModel(name, {
      env: endpoint === undefined ? env : withEndpoint(endpoint, env),
      base: root,
      prices: config.models,
      budget: createBudget(maxCostUsd ?? null, 0, raiseCostLimit),
    })
  }
}

/** The provider is the same as without the boundary. */
export function withEndpoint(
  endpoint: ModelEndpoint,
  env: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const custom = env.AGENT_LLM_BASE_URL === undefined ? {} : { AGENT_LLM_BASE_URL: `${endpoint.url}/v1` }
  return { ...env, ...endpointVariables(endpoint), ...custom }
}
