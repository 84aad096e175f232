import { expect, test } from 'vitest'
import { type EditorState, editorStates as names, type TaskStep } from './contract.ts'
import { editorStates, isEnd } from './states.ts'

test('every move is told, with where it came from', () => {
  const told: TaskStep[] = []
  const phases: EditorState[] = []
  const states = editorStates(
    (step) => told.push(step),
    (state) => phases.push(state),
  )
  states.move('ANALYZING', 'started')
  states.move('CANCELLED', 'by a person')
  expect(told).toEqual([
    { kind: 'state_transition', from: 'IDLE', to: 'ANALYZING', reason: 'started' },
    { kind: 'state_transition', from: 'ANALYZING', to: 'CANCELLED', reason: 'by a person' },
  ])
  expect(phases).toEqual(['ANALYZING', 'CANCELLED'])
})

test.each(names.filter(isEnd))('%s is an end: nothing follows it', (end) => {
  const states = editorStates(
    () => {},
    () => {},
  )
  states.move('IMPLEMENTING', '')
  states.move(end, '')
  for (const next of names) expect(() => states.move(next, '')).toThrow(`from ${end}`)
})

test('a verification follows an edit, never another verification', () => {
  const states = editorStates(
    () => {},
    () => {},
  )
  states.move('IMPLEMENTING', '')
  states.move('VERIFYING', '')
  expect(() => states.move('VERIFYING', '')).toThrow('from VERIFYING to VERIFYING')
  expect(() => states.move('ANALYZING', '')).toThrow()
})
