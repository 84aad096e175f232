// PreToolUse of Write, Edit and NotebookEdit: nothing is written below secrets/, whichever way the path is spelled.
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'

const { cwd = process.cwd(), tool_input: input = {} } = JSON.parse(readFileSync(0, 'utf8'))
const path = input.file_path ?? input.notebook_path

if (typeof path === 'string' && isSecret(path)) {
  console.log(
    JSON.stringify({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: `${path} is below secrets/, which is read-only. Put the value into the environment instead.`,
      },
    }),
  )
}

function isSecret(name) {
  const within = relative(real(cwd), real(resolve(cwd, name)))
  // Some file systems know no upper case.
  return within.split(sep)[0].toLowerCase() === 'secrets'
}

/** Links are followed as far as the path exists, so that a link is no way in. */
function real(name) {
  if (existsSync(name)) return realpathSync(name)
  const parent = dirname(name)
  return parent === name ? name : join(real(parent), basename(name))
}
