import { expect, test } from 'vitest'
import { oldSpelling } from './old-spelling.ts'

test.each([
  ['run --all', 'gantry test'],
  ['run --scenario capture_basic --tool opencode', 'gantry test --scenario capture_basic --agent opencode'],
  [
    'run -s a.yaml --max-usd 1.00 --timeout-secs=120',
    'gantry test -s a.yaml --max-cost-usd 1.00 --timeout 120s',
  ],
  [
    'run --all --tools opencode,claude-code --models gpt-4o',
    "gantry test --agent 'opencode,claude-code' --model gpt-4o",
  ],
  ['run --all --tags capture --tier 1 --dry-run', 'gantry test --tag capture --tier 1 --dry-run'],
  ['scenarios --tags capture', 'gantry scenario list --tag capture'],
  ['show capture_basic', 'gantry scenario show capture_basic'],
  ['clean --older-than 7d', 'gantry runs clean --older-than 7d'],
  ['run -p ./my-plugin --fast', 'gantry plugin run -p ./my-plugin --fast'],
  ['run --config=config.yaml', 'gantry plugin run --config=config.yaml'],
  ['analyze -p ./my-plugin', 'gantry plugin analyze -p ./my-plugin'],
  ['resume -r 20250102-120000-ab3d', 'gantry plugin resume -r 20250102-120000-ab3d'],
])('%s is %s', (before, today) => {
  expect(oldSpelling(before.split(' '))).toEqual({ word: before.split(' ')[0], today })
})

test('a text of several words is a task', () => {
  const today = "gantry task run 'Fix the login' --dry-run"
  expect(oldSpelling(['run', 'Fix the login', '--dry-run'])).toEqual({ word: 'run', today })
  expect(oldSpelling(['queue'])?.today).toBe('gantry task list')
})

test.each([
  ['test --tool opencode', '--tool', 'gantry test --agent opencode'],
  ['test a.yaml --max-usd 3', '--max-usd', 'gantry test a.yaml --max-cost-usd 3'],
  ['test --all', '--all', 'gantry test'],
  ['plugin run . --from-stage execution', '--from-stage', 'gantry plugin resume RUN --from-stage STAGE'],
  ['test --timeout-secs 90 --tags x', '--timeout-secs', 'gantry test --timeout 90s --tag x'],
])('%s names %s and gives %s', (before, word, today) => {
  expect(oldSpelling(before.split(' '))).toEqual({ word, today })
})

test.each(['test --agent a', 'verify', 'test -- --tool', 'runs list', 'nonsense', ''])(
  '%s is not old',
  (line) => {
    expect(oldSpelling(line.split(' '))).toBeNull()
  },
)
