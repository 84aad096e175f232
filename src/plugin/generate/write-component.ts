import { counted } from '../../core/counted.ts'
import { headAndTail } from '../../core/shorten.ts'
import { componentLabel } from '../component-list.ts'
import type { ComponentAnswers } from './ask-component.ts'
import type { ModelWritten } from './component-prompt.ts'
import {
  type ComponentScenarios,
  occurrences,
  recorded,
  scenarioMaker,
  type UnnamedScenario,
} from './component-record.ts'
import type { ScenarioType } from './contract.ts'
import { fallbackScenarios } from './fallback-scenarios.ts'
import type { Draft } from './fill-slots.ts'
import type { ComponentPlan } from './plan-component.ts'
import { diversity, slotTypes, suffixOf } from './plan-slots.ts'

/** The scenarios written by the model. A type without any usable scenario is filled with phrases of the component. */
export function writeComponent(
  plan: ComponentPlan,
  asked: ComponentAnswers,
  { model, degree }: { readonly model: string; readonly degree: number },
): ComponentScenarios {
  const { entry, neighbours, slots } = plan
  const byModel = asked.drafts.map((draft) => toScenario(draft, entry))
  const wanted = occurrences(slots.map(({ type }) => type))
  const fallback = fallbackScenarios(entry, neighbours)
  const isByModel = byModel.length > 0
  const instead = isByModel
    ? missingTypes(wanted, byModel).flatMap((type) =>
        fallback.scenarios.filter(({ scenario_type }) => scenario_type === type).slice(0, wanted[type]),
      )
    : fallback.scenarios
  const scenarios = [...byModel, ...instead].toSorted(
    (a, b) => slotTypes.indexOf(a.scenario_type) - slotTypes.indexOf(b.scenario_type),
  )
  const { baseCount, variationsPerBase } = diversity(slots.length, degree)
  const { requests, tokens, costUsd } = asked
  return recorded(entry, scenarios, {
    origin: isByModel ? 'model' : 'fallback',
    asked: wanted,
    ideas: {
      asked: baseCount,
      variations_per_base: variationsPerBase,
      got: new Set(asked.drafts.map(({ slot }) => slot.base)).size,
      texts: [...asked.ideas],
    },
    dropped: [...asked.dropped],
    repaired: asked.drafts.flatMap(({ slot, repairs }) => repairs.map((what) => ({ slot: slot.id, what }))),
    usage: [{ model, requests, tokens, cost_usd: costUsd }],
    warnings: [
      ...warningsOf(entry, asked, slots.length, instead.length),
      ...(isByModel ? [] : fallback.warnings),
    ],
  })
}

function toScenario(
  { slot, prompt, reasoning, phrase, variation, setup, tags }: Draft,
  { type, component: { name } }: ModelWritten,
): UnnamedScenario {
  const scenario = scenarioMaker(type, name, 'model')
  return scenario(suffixOf(slot), slot.type, prompt, {
    ...(setup !== undefined && { setup_messages: setup }),
    ...(phrase !== undefined && { original_trigger_phrase: phrase }),
    ...(variation !== undefined && { semantic_variation_type: variation }),
    ...(reasoning !== undefined && { reasoning: headAndTail(reasoning, 500) }),
    tags,
  })
}

function missingTypes(
  wanted: Partial<Record<ScenarioType, number>>,
  got: readonly UnnamedScenario[],
): readonly ScenarioType[] {
  const there = new Set(got.map(({ scenario_type }) => scenario_type))
  return slotTypes.filter((type) => (wanted[type] ?? 0) > 0 && !there.has(type))
}

function warningsOf(
  { type, component }: ModelWritten,
  { drafts, failures }: ComponentAnswers,
  wanted: number,
  instead: number,
): string[] {
  const who = componentLabel(type, component.name)
  const filling =
    instead === 0 ? '' : `; ${counted(instead, 'scenario is', 'scenarios are')} made without a model`
  return [
    ...[...new Set(failures)].map((message) => `${who}: the model could not be used: ${message}`),
    ...(drafts.length < wanted
      ? [`${who}: the model gave ${drafts.length} of ${wanted} usable scenarios${filling}`]
      : []),
  ]
}
