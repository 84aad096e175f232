import { describe, expect, test } from 'vitest'
import type { CallMessage } from '../contract.ts'
import { callKind } from './call-kind.ts'

const generate = { kind: 'generate' } as const
const summary = 'Your task is to create a detailed summary of the conversation so far.'

describe('the kind of a call', () => {
  test('is given by its route, where that is enough', () => {
    const call = { system: summary, messages: [], tools: [] }
    expect(callKind({ kind: 'count_tokens' }, call)).toBe('count_tokens')
    expect(callKind({ kind: 'list_models' }, call)).toBe('list_models')
  })

  test('is a turn with tools and a side call without', () => {
    const messages = [said('user', 'Go.')]
    expect(callKind(generate, { system: '', messages, tools: ['Bash'] })).toBe('turn')
    expect(callKind(generate, { system: '', messages, tools: [] })).toBe('side')
  })

  test.each([
    summary,
    'Your task is to create a detailed summary of the RECENT portion of the conversation',
    'responsible for distilling chat history into a structured XML <state_snapshot>.',
    'You are performing a CONTEXT CHECKPOINT COMPACTION.',
    'You are a context summarization agent.',
  ])('is a compaction when asked with "%s"', (words) => {
    const before = [said('user', 'Go.'), said('assistant', 'Gone.')]
    const asked = {
      system: '',
      messages: [...before, said('user', `CRITICAL: text only.\n\n${words}`)],
      tools: ['Bash'],
    }
    expect(callKind(generate, asked)).toBe('compaction')
    expect(callKind(generate, { system: words, messages: before, tools: [] })).toBe('compaction')
    const reminded = [...asked.messages, said('system', 'A reminder.')]
    expect(callKind(generate, { ...asked, messages: reminded })).toBe('compaction')
  })

  test('is not a compaction when the text is old, from the model or from a tool', () => {
    const past = [said('user', summary), said('assistant', summary), said('user', 'Go on.')]
    expect(callKind(generate, { system: '', messages: past, tools: ['Bash'] })).toBe('turn')
    const result: CallMessage = {
      ...said('user', ''),
      toolResults: [{ id: 'a', text: summary, isError: false }],
    }
    expect(callKind(generate, { system: '', messages: [result], tools: ['Bash'] })).toBe('turn')
    expect(callKind(generate, { system: '', messages: [said('tool', summary)], tools: ['Bash'] })).toBe(
      'turn',
    )
  })
})

function said(role: CallMessage['role'], text: string): CallMessage {
  return { role, text, toolCalls: [], toolResults: [] }
}
