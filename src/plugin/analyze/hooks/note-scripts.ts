import type { HookHandler } from '../contract.ts'
import type { PluginFiles } from '../files/plugin-files.ts'
import { pluginReferences, relativeReferences } from '../files/plugin-references.ts'
import type { Add } from './add.ts'

/** Whether the files a command hook starts are there. Hands back their texts. */
export function noteScripts({ action, raw }: HookHandler, files: PluginFiles, add: Add): readonly string[] {
  const texts: string[] = []
  for (const { path, isProgram } of pluginReferences(action)) {
    const place = files.placeOf(path)
    if (place === 'missing')
      add(
        'HOOK_SCRIPT_MISSING',
        `${path} is not there, and a hook that cannot be started lets everything pass`,
        'Correct the path.',
      )
    if (place !== 'file') continue
    if (isProgram && !files.isExecutable(path))
      add(
        'HOOK_SCRIPT_NOT_EXECUTABLE',
        `${path} is not executable, and a hook that cannot be started lets everything pass`,
        `Run chmod +x ${path}, or start it by its interpreter.`,
      )
    const script = looksLikeScript.test(path) ? files.read(path) : null
    if (script !== null) texts.push(script.text)
  }
  const args = Array.isArray(raw.args) ? raw.args.filter((item) => typeof item === 'string') : []
  for (const path of relativeReferences([String(raw.command ?? ''), ...args].join(' ')))
    if (files.placeOf(path) === 'file')
      add(
        'HOOK_PATH_RELATIVE',
        `${path} is looked for in the project, not in the plugin`,
        `Write \${CLAUDE_PLUGIN_ROOT}/${path}.`,
      )
  return texts
}

/** Not a program of many megabytes. */
const looksLikeScript = /(?:\.(?:sh|bash|zsh|py|js|mjs|cjs|ts|rb|pl|ps1)|\/[^./]+|^[^./]+)$/
