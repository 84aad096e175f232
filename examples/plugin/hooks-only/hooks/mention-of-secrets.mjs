// UserPromptSubmit: who speaks of a secret is reminded of where one belongs. Every other prompt passes without a word.
import { readFileSync } from 'node:fs'

const { prompt = '' } = JSON.parse(readFileSync(0, 'utf8'))
if (/\b(password|secret|token|api key)s?\b/i.test(prompt)) {
  console.log(
    JSON.stringify({
      hookSpecificOutput: {
        hookEventName: 'UserPromptSubmit',
        additionalContext: 'Never repeat the value of a secret, and never write one into a file.',
      },
    }),
  )
}
