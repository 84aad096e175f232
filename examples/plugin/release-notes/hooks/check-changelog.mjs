// PostToolUse of Write and Edit: a changelog without a section for unreleased changes is told to the model at once.
import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'

const { tool_input: input = {} } = JSON.parse(readFileSync(0, 'utf8'))
const path = input.file_path ?? ''

if (basename(path) === 'CHANGELOG.md' && existsSync(path)) {
  const firstSection = /^## .*/m.exec(readFileSync(path, 'utf8'))?.[0] ?? ''
  if (!/^## \[?unreleased\]?/i.test(firstSection)) {
    console.log(
      JSON.stringify({
        hookSpecificOutput: {
          hookEventName: 'PostToolUse',
          additionalContext: 'CHANGELOG.md has no section "## [Unreleased]" at its top. Add one before you go on.',
        },
      }),
    )
  }
}
