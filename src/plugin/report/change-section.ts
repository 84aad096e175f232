import { counted } from '../../core/counted.ts'
import { shorten } from '../../core/shorten.ts'
import { columnsOf, type ReportSection } from '../../report/contract.ts'
import { plainLine } from '../../report/plain-text.ts'
import type { Analysis } from '../analyze/contract.ts'
import { type AnyComponent, componentsById } from '../component-list.ts'
import type { ComponentMetrics } from '../evaluate/metrics/arm-metrics.ts'
import type { EvaluationSummary } from '../evaluate/metrics/create-evaluation-fold.ts'
import type { PluginScenario } from '../generate/contract.ts'

/** For every component that fired wrongly or not at all: the file, and what to change in it. */
export function changeSection(
  summary: EvaluationSummary,
  analysis: Pick<Analysis, 'components' | 'listing'>,
): ReportSection | null {
  const rows = [...componentsById(analysis.components)].flatMap(([id, one]) => {
    const metrics = summary.by_component[id]
    if (metrics === undefined) return []
    const advice = [
      ...(metrics.false_negatives > 0 ? missed(id, one, metrics, summary, analysis) : []),
      ...(metrics.false_positives > 0 ? [firedWrongly(one, metrics)] : []),
    ]
    return advice.length === 0 ? [] : [[componentPlace(one), advice.join(' ')]]
  })
  if (rows.length === 0) return null
  return { title: 'What to change', isFirst: true, columns: columnsOf('file', 'because'), rows }
}

function missed(
  id: string,
  { type, component }: AnyComponent,
  metrics: ComponentMetrics,
  { confusion }: EvaluationSummary,
  { listing }: Pick<Analysis, 'listing'>,
): string[] {
  const wanted = metrics.true_positives + metrics.false_negatives
  const finding = `${component.name} should have fired ${counted(wanted, 'time')} and missed ${metrics.false_negatives}.`
  const row = confusion.find(({ expected }) => expected === id)
  const others = (row?.fired ?? []).filter(({ component: fired }) => fired !== id)
  const takers = others.filter(({ component: fired }) => fired !== 'none').map((one) => one.component)
  const scenarios = [...new Set(others.flatMap((one) => one.scenarios))].slice(0, 5).join(', ')
  const where = scenarios === '' ? '' : ` See ${scenarios}.`
  const shown = listing.entries.find((entry) => entry.component === id)?.shown ?? 'whole'
  switch (type) {
    case 'skill':
    case 'agent':
      // A component that the model has chosen was described to it.
      if (shown !== 'whole' && metrics.true_positives === 0)
        return [
          finding,
          `Its description is ${shown} in the listing that the model sees: shorten it.${where}`,
        ]
      return takers.length > 0
        ? [
            finding,
            takers.every((taker) => taker.startsWith('(built-in)/'))
              ? `${takers.map((taker) => taker.replace('(built-in)/', 'the built-in ')).join(' and ')} fired instead: say in its description what it does that Claude Code itself does not.${where}`
              : `${takers.join(' and ')} fired instead: say in each description what the other is not for.${where}`,
          ]
        : [finding, `Nothing else fired: say in its description which requests it is for.${where}`]
    case 'command':
      return [
        finding,
        `Check its name and frontmatter: Claude Code expanded no ${component.invocation}.${where}`,
      ]
    case 'hook':
      return [finding, `Check event and matcher; gantry plugin hooks tries it alone.${where}`]
    case 'mcp_server':
      return [finding, `Check that it starts, and how its tools are described.${where}`]
  }
}

function firedWrongly(
  { type, component }: AnyComponent,
  { false_positives: times }: ComponentMetrics,
): string {
  return `${component.name} fired ${counted(times, 'time')} when it should not. ${waysToNarrow[type]}`
}

const waysToNarrow: Readonly<Record<AnyComponent['type'], string>> = {
  skill: 'Say in its description when not to use it.',
  agent: 'Say in its description when not to use it.',
  command: 'Set disable-model-invocation if only people should start it, or say when not to use it.',
  hook: 'Make its matcher narrower.',
  mcp_server: 'Say in the descriptions of its tools when not to use them.',
}

/** The file of a component relative to the plugin, with the line when it is known. */
function componentPlace({ component: { path, line } }: AnyComponent): string {
  return line === undefined ? path : `${path}:${line}`
}

/** The likely cause of a wrong trigger: the file to look at, and the prompt. */
export function likelyCause(scenario: PluginScenario, found: AnyComponent): string {
  const asked = `"${shorten(plainLine(scenario.user_prompt), maxPrompt)}"`
  const place = componentPlace(found)
  const choice = `the description in ${place} ${scenario.expected_trigger ? 'did not make' : 'made'} it the choice for ${asked}`
  return {
    skill: choice,
    agent: choice,
    command: scenario.expected_trigger ? `${place} was not expanded for ${asked}` : choice,
    hook: `check the event, matcher and handler in ${place}; the prompt was ${asked}`,
    mcp_server: `check that the server in ${place} starts, and its tool descriptions; the prompt was ${asked}`,
  }[found.type]
}

const maxPrompt = 160
