import type { HookComponent } from '../../analyze/contract.ts'
import type { TemplateScenarios, UnnamedScenario } from '../component-record.ts'
import { requestsOfEvent } from './event-requests.ts'
import type { HookPrompt, HookPrompts, HookSurroundings } from './hook-request.ts'
import { conditionOf, eventsWithConditions, toolEventRequests } from './tool-event-requests.ts'

/** What makes the event of a hook happen, and where its matcher leaves something out, what happens beside it. */
export function hookTemplates(hook: HookComponent, surroundings: HookSurroundings): TemplateScenarios {
  const requests = requestsOf(hook, surroundings)
  if (requests.kind === 'skipped') return { scenarios: [], skipped: requests.reason }
  return {
    scenarios: requests.requests.map((request) => toScenario(hook, request)),
    ...(requests.warnings !== undefined && {
      warnings: requests.warnings.map((warning) => `hook ${hook.name}: ${warning}`),
    }),
  }
}

function requestsOf(hook: HookComponent, surroundings: HookSurroundings): HookPrompts {
  if (conditionOf(hook) !== null && !eventsWithConditions.has(hook.event))
    return { kind: 'skipped', reason: `on ${hook.event} a handler with \`if\` never runs` }
  return toolEventRequests(hook, surroundings) ?? requestsOfEvent(hook, surroundings)
}

function toScenario(
  { name }: HookComponent,
  { suffix, prompt, fires, reasoning, files, tools, setup }: HookPrompt,
): UnnamedScenario {
  return {
    suffix,
    component_ref: name,
    expected_component: name,
    component_type: 'hook',
    scenario_type: fires ? 'direct' : 'negative',
    user_prompt: prompt,
    expected_trigger: fires,
    reasoning,
    origin: 'template',
    ...(files !== undefined && { files }),
    ...(tools !== undefined && tools.length > 0 && { needs_tools: tools }),
    ...(setup !== undefined && { setup_messages: setup }),
  }
}
