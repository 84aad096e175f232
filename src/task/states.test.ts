import { expect, test } from 'vitest'
import { type EditorState, editorStates as names, type TaskStep } from './contract.ts'
import { editorStates, isEnd } from './states.ts'

test('every move emits an event with its previous state', () => {
  const emitted: TaskStep[] = []
  const phases: EditorState[] = []
  const states = editorStates(
    (step) => emitted.push(step),
    (state) => phases.push(state),
  )
  states.move('ANALYZING', 'started')
  states.move('CANCELLED', 'by a person')
  expect(emitted).toEqual([
    { kind: 'state_transition', from: 'IDLE', to: 'ANALYZING', reason: 'started' },
    { kind: 'state_transition', from: 'ANALYZING', to: 'CANCELLED', reason: 'by a person' },
  ])
  expect(phases).toEqual(['ANALYZING', 'CANCELLED'])
})

test.each(names.filter(isEnd))('no state follows %s', (end) => {
  const states = editorStates(
    () => {},
    () => {},
  )
  states.move('IMPLEMENTING', '')
  states.move('VERIFYING', '')
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
