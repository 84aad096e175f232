import { expect, test } from 'vitest'
import { sampleKnown, sampleScenario } from '../../../test/support/plugin-samples.ts'
import type { ComponentType } from '../contract.ts'
import { analyzeConflict } from './analyze-conflict.ts'
import type { ConflictSeverity, Detection } from './contract.ts'
import { detectionOf, foundForeign, foundKnown } from './detection/resolve-name.ts'

const known = (type: ComponentType, name: string, plugin = 'demo') => {
  const found = sampleKnown.all.find((one) => one.type === type && one.name === name && one.plugin === plugin)
  if (found === undefined) throw new Error(`no ${type} ${name}`)
  return found
}
const trace = { source: 'tool_capture', evidence: '', timestamp: 1 } as const
const fired = (type: ComponentType, name: string, plugin?: string): Detection =>
  detectionOf(foundKnown(known(type, name, plugin)), trace)

const expected = known('skill', 'greet')
const self = fired('skill', 'greet')
const others = {
  nobody: [],
  'the same type': [fired('skill', 'farewell')],
  'another type': [fired('agent', 'reviewer')],
  both: [fired('agent', 'reviewer'), fired('skill', 'farewell')],
  'another plugin': [fired('skill', 'greet', 'other')],
  'somebody unknown': [detectionOf(foundForeign('agent', 'general-purpose'), trace)],
  'a hook': [fired('hook', 'Stop')],
} as const satisfies Readonly<Record<string, readonly Detection[]>>

/** Every combination: whether it fired, what else fired, whether it should; across plugins or not. */
type Company = keyof typeof others
const table: readonly (readonly [
  company: Company,
  firedToo: readonly [plain: ConflictSeverity, crossing: ConflictSeverity],
  firedInstead: readonly [plain: ConflictSeverity, crossing: ConflictSeverity],
])[] = [
  ['nobody', ['none', 'none'], ['none', 'none']],
  ['the same type', ['medium', 'medium'], ['high', 'high']],
  ['another type', ['low', 'low'], ['high', 'high']],
  ['both', ['medium', 'medium'], ['high', 'high']],
  ['another plugin', ['none', 'medium'], ['none', 'high']],
  ['somebody unknown', ['none', 'low'], ['none', 'high']],
  ['a hook', ['none', 'none'], ['none', 'none']],
]

function severity(
  detections: readonly Detection[],
  expected_trigger: boolean,
  cross_plugin: boolean,
  enabled = true,
) {
  return analyzeConflict(sampleScenario({ expected_trigger }), detections, {
    expected,
    conflict_detection: { enabled, cross_plugin },
    domainPartMin: 4,
  }).conflict_severity
}

test('the table of severities has every combination', () => {
  expect(table.map(([company]) => company)).toEqual(Object.keys(others))
})

test.each(table)('beside %s', (company, firedToo, firedInstead) => {
  const rest = others[company]
  for (const [index, crossing] of [false, true].entries()) {
    expect(severity([self, ...rest], true, crossing)).toBe(firedToo[index])
    expect(severity(rest, true, crossing)).toBe(firedInstead[index])
    // Staying quiet is right whatever else fires; firing is as much a conflict as ever.
    expect(severity(rest, false, crossing)).toBe('none')
    expect(severity([self, ...rest], false, crossing)).toBe(firedToo[index])
    expect(severity([self, ...rest], true, crossing, false)).toBe('none')
    expect(severity(rest, true, crossing, false)).toBe('none')
  }
})

test('an expected component with a shared name is ambiguous, whatever fired', () => {
  const found = analyzeConflict(sampleScenario(), [self], {
    expected,
    conflict_detection: { enabled: true, cross_plugin: false },
    domainPartMin: 4,
    sharedName: 'two have the name',
  })
  expect(found).toMatchObject({ conflict_severity: 'high', conflict_reason: 'two have the name' })
})

test('every fired component is listed, even those that do not count', () => {
  const found = analyzeConflict(sampleScenario(), [self, ...others['another plugin'], ...others['a hook']], {
    expected,
    conflict_detection: { enabled: true, cross_plugin: false },
    domainPartMin: 4,
  })
  expect(found.all_triggered_components.map(({ plugin, name }) => `${plugin} ${name}`)).toEqual([
    'demo greet',
    'other other:greet',
    'demo Stop',
  ])
})
