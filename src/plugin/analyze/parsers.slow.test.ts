import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyCharacter } from '../../../test/support/any-character.ts'
import { parseExamples } from './agents/agent-component.ts'
import { hintArguments } from './commands/command-component.ts'
import { parseJsonFile } from './files/json-file.ts'
import { isRootUnquoted, pluginReferences, startedByRelativePath } from './files/plugin-references.ts'
import { toolsField } from './frontmatter/read-markdown.ts'
import { hookBehavior, matchingTools } from './hooks/hook-components.ts'
import { hookMatches } from './matcher.ts'
import { findOverlaps } from './overlap/note-overlaps.ts'
import { intentOf } from './skills/skill-component.ts'
import { triggerPhrases } from './trigger-phrases.ts'

test('no text makes a parser throw', () => {
  const piece = fc.constantFrom(
    '<example>',
    '</example>',
    'user:',
    '"',
    "'",
    '“',
    '[',
    ']',
    '<',
    '>',
    '(',
    ')',
    '{',
    '}',
    ',',
    ':',
    '\n',
    '\\n',
    `\${CLAUDE_PLUGIN_ROOT}/`,
    '|',
    '*',
    '+',
    '?',
    '^',
    '漢字',
    '\0',
    'asks to ',
  )
  const text = fc
    .array(fc.oneof(piece, fc.string(), fc.string({ unit: anyCharacter })), { maxLength: 25 })
    .map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(text, text, (one, other) => {
      for (const phrase of triggerPhrases(one).wanted) expect(intentOf(phrase).raw_phrase).toBe(phrase)
      parseExamples(one)
      hintArguments(one)
      toolsField({ tools: one }, 'tools')
      hookMatches(one, other)
      matchingTools(one)
      hookBehavior(one)
      pluginReferences(one)
      startedByRelativePath(one)
      isRootUnquoted(one)
      parseJsonFile(one)
      findOverlaps(
        [
          { id: 'a', description: one },
          { id: 'b', description: other },
        ],
        () => true,
      )
    }),
  )
})
