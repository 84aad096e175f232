#!/usr/bin/env node
import { hookMain } from './hook-main.ts'

await hookMain(import.meta.filename)
