import type { ScoutName } from '../contract.ts'

const rules: readonly (readonly [ScoutName, RegExp])[] = [
  ['scout_a', /\b(?:imports?|importing|modules?|dependenc(?:y|ies)|not found|undefined|missing)\b/i],
  [
    'scout_b',
    /\b(?:builds?|building|compil(?:e|er|es|ed|ing|ation)|test setup|environment|time(?:d |-)?out)\b/i,
  ],
]

/** Which Scouts a REPLAN asks again: by what the failures are about. */
export function requeryScouts(failures: readonly string[]): readonly ScoutName[] {
  const text = failures.join('\n').replaceAll(/([a-z])([A-Z])/g, '$1 $2')
  return rules.filter(([, words]) => words.test(text)).map(([scout]) => scout)
}
