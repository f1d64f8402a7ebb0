// SPDX-FileCopyrightText: 2026 The metalshift.maas authors
// SPDX-License-Identifier: GPL-3.0-or-later

package v1beta1

// MAASPlatform is the type of platform that the MAAS fork adds.
const MAASPlatform PlatformType = "MAAS"

// MAASIdentityReference names the Secret with MAAS_ENDPOINT and MAAS_API_KEY.
type MAASIdentityReference struct {
	Name string `json:"name"`
}

// MAASPlatformSpec is spec.platform.maas of a HostedCluster and a HostedControlPlane.
type MAASPlatformSpec struct {
	IdentityRef MAASIdentityReference `json:"identityRef"`
	DNSDomain   string                `json:"dnsDomain,omitempty"`
	Zone        string                `json:"zone,omitempty"`
}

// MAASLXDConfig is spec.platform.maas.lxd of a NodePool: nothing reads it.
type MAASLXDConfig struct {
	Enabled     bool   `json:"enabled,omitempty"`
	StoragePool string `json:"storagePool,omitempty"`
	Network     string `json:"network,omitempty"`
}

// MAASStaticIPConfig is spec.platform.maas.staticIP of a NodePool: nothing reads it.
type MAASStaticIPConfig struct {
	IP          string   `json:"ip,omitempty"`
	CIDR        string   `json:"cidr,omitempty"`
	Gateway     string   `json:"gateway,omitempty"`
	Nameservers []string `json:"nameservers,omitempty"`
}

// MAASNodePoolPlatform is spec.platform.maas of a NodePool.
type MAASNodePoolPlatform struct {
	IdentityRef   MAASIdentityReference `json:"identityRef"`
	MachineType   string                `json:"machineType,omitempty"`
	Zone          string                `json:"zone,omitempty"`
	Tags          []string              `json:"tags,omitempty"`
	ResourcePool  string                `json:"resourcePool,omitempty"`
	MinCPU        *int32                `json:"minCpu,omitempty"`
	MinMemory     *int32                `json:"minMemory,omitempty"`
	Image         string                `json:"image,omitempty"`
	FailureDomain string                `json:"failureDomain,omitempty"`
	MinDiskSize   *int32                `json:"minDiskSize,omitempty"`
	LXD           *MAASLXDConfig        `json:"lxd,omitempty"`
	StaticIP      *MAASStaticIPConfig   `json:"staticIP,omitempty"`
}

// DeepCopy copies what the pointer points to.
func (in *MAASPlatformSpec) DeepCopy() *MAASPlatformSpec {
	return copied(in)
}

// DeepCopy copies what the pointer points to, and all that this points to.
func (in *MAASNodePoolPlatform) DeepCopy() *MAASNodePoolPlatform {
	out := copied(in)
	if out == nil {
		return nil
	}
	out.Tags = append([]string(nil), in.Tags...)
	out.MinCPU, out.MinMemory, out.MinDiskSize = copied(in.MinCPU), copied(in.MinMemory), copied(in.MinDiskSize)
	out.LXD, out.StaticIP = copied(in.LXD), copied(in.StaticIP)
	if out.StaticIP != nil {
		out.StaticIP.Nameservers = append([]string(nil), in.StaticIP.Nameservers...)
	}
	return out
}

func copied[T any](in *T) *T {
	if in == nil {
		return nil
	}
	out := *in
	return &out
}
