import type { Analysis } from '../analyze/contract.ts'
import type { AnyComponent } from '../component-list.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import { answerShape } from './answer-schema.ts'
import { answerTokens } from './answer-tokens.ts'
import { componentsInScope } from './components-in-scope.ts'
import { countTokens } from './count-tokens.ts'
import { fallbackComponent } from './fallback-component.ts'
import { generationSystem } from './generation-system.ts'
import { planComponent, plannedPrompts } from './plan-component.ts'
import { templateComponent } from './template-component.ts'

export interface GenerationCount {
  readonly scenarios: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** What the component itself adds to a scenario, on average. */
  readonly componentTokens: number
}

/** What stage 2 would ask and make. The questions are really made and counted, and templates really filled. */
export function countGeneration(
  analysis: Pick<Analysis, 'components' | 'findings' | 'plugin_load_result'>,
  config: PluginConfig,
  { isAsked }: { readonly isAsked: boolean },
): GenerationCount {
  const { token_estimates: estimates } = config.tuning
  const count = { scenarios: 0, inputTokens: 0, outputTokens: 0, componentTokens: 0 }
  const add = (entry: AnyComponent, scenarios: number): void => {
    count.scenarios += scenarios
    count.componentTokens += scenarios * perComponent(entry, estimates)
  }
  for (const entry of componentsInScope(analysis.components, config.scope)) {
    const ready = templateComponent(entry, analysis, config)
    if (ready !== null) add(entry, ready.scenarios.length)
    else if (entry.type === 'skill' || entry.type === 'agent') {
      const plan = planComponent(entry, analysis, config)
      add(entry, isAsked ? plan.slots.length : fallbackComponent(plan).scenarios.length)
      if (!isAsked) continue
      for (const prompt of plannedPrompts(plan)) count.inputTokens += everyQuestion + countTokens(prompt)
      count.outputTokens += answerTokens(plan.slots, estimates)
    }
  }
  return { ...count, componentTokens: count.scenarios === 0 ? 0 : count.componentTokens / count.scenarios }
}

/** What stands in all of them. */
const everyQuestion = countTokens(generationSystem, answerShape)

function perComponent({ type }: AnyComponent, estimates: PluginConfig['tuning']['token_estimates']): number {
  switch (type) {
    case 'skill':
      return estimates.per_skill
    case 'agent':
      return estimates.per_agent
    case 'command':
      return estimates.per_command
    case 'hook':
      return estimates.per_hook
    case 'mcp_server':
      return estimates.per_mcp_server
  }
}
