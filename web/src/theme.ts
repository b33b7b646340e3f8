// theme.ts - light, dark, or as the system has it. SPDX-License-Identifier: Apache-2.0
import { signal } from '@preact/signals';

type Theme = 'system' | 'light' | 'dark';
const ORDER: Theme[] = ['system', 'light', 'dark'];

function kept(): Theme {
  try {
    const value = localStorage.getItem('weir-theme') as Theme;
    return ORDER.includes(value) ? value : 'system';
  } catch { return 'system'; }
}

export const theme = signal<Theme>(kept());

export function applyTheme() {
  if (theme.value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}

export function nextTheme() {
  theme.value = ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length];
  try { localStorage.setItem('weir-theme', theme.value); } catch { /* a browser that keeps nothing */ }
  applyTheme();
}
