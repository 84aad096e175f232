import { resolve } from 'node:path'
import type { ToolCall } from '../../core/hook-event.ts'

/** Absolute paths of the files a call names as its targets, each once. What a shell command touches is not among them. */
export function callPaths({ action, input }: ToolCall, cwd: string): readonly string[] {
  const named = namedPaths(action, input)
  return [...new Set(named.filter((path) => path !== '').map((path) => resolve(cwd, path)))]
}

function namedPaths(action: ToolCall['action'], input: unknown): readonly string[] {
  switch (action.kind) {
    case 'write':
    case 'edit':
      return [action.path]
    case 'read':
      return action.path === null ? [] : [action.path]
    case 'patch':
      return action.files.flatMap(({ path, to }) => (to === undefined ? [path] : [path, to]))
    case 'unknown':
      return pathsIn(input)
    case 'shell':
    case 'subagent':
      return []
  }
}

const pathKeys = ['file_path', 'path', 'filePath', 'filename', 'notebook_path', 'absolute_path']

function pathsIn(input: unknown): readonly string[] {
  if (typeof input !== 'object' || input === null) return []
  const fields = new Map(Object.entries(input))
  return pathKeys.map((key) => fields.get(key)).filter((value) => typeof value === 'string')
}
